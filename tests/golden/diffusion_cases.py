"""Writes diffusion_cases.json: what diffusers computes with small U-Nets and diffusion transformers, and how its
schedules and samplers continue given predictions.

    pip install torch diffusers transformers numpy && python diffusion_cases.py

The weights are made as in encoder_cases.py; 1 is added to those of group norms. Images and noise are made from integers
too: the synthetic weights of a matrix numbered 1000 (images) or 1001 (predictions), 1002 (noise), times 32.
"""

import json
import math
import pathlib

import diffusers
import numpy as np
import torch
from encoder_cases import fill, values

THREE, ALL_TIMES = [3, 0, 4], [999.0, 500.0, 1.0]
UNET = dict(sample_size=8, in_channels=2, out_channels=2, block_out_channels=(8, 16), layers_per_block=1, norm_num_groups=4,
            down_block_types=("DownBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "UpBlock2D"), add_attention=False)
ATTENTION = dict(down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"),
                 attention_head_dim=4, add_attention=True)
DIT = dict(sample_size=8, in_channels=2, num_attention_heads=2, attention_head_dim=8, num_layers=2, patch_size=2,
           num_embeds_ada_norm=5)


def sines_in_double(timesteps, embedding_dim, flip_sin_to_cos=False, downscale_freq_shift=1, scale=1, max_period=10000):
    """get_timestep_embedding() of diffusers, which computes in f32: at time 999 its angles are wrong by 3e-5."""
    half = embedding_dim // 2
    exponents = -math.log(max_period) * torch.arange(half, dtype=torch.float64) / (half - downscale_freq_shift)
    angles = scale * timesteps[:, None].double() * torch.exp(exponents)
    parts = [torch.sin(angles), torch.cos(angles)]
    return torch.cat(parts[::-1] if flip_sin_to_cos else parts, dim=-1)


diffusers.models.embeddings.get_timestep_embedding = sines_in_double


def elements(number, shape):
    return torch.from_numpy(values(number, "images", shape) * np.float32(32))


def listed(tensor):
    return [float(f"{x:.9g}") for x in tensor.flatten().tolist()]


def config_of(model):
    kept = {key: value for key, value in model.config.items() if not key.startswith("_")}
    return {"_class_name": type(model).__name__, **json.loads(json.dumps(kept))}


def any_grid(model):
    """Lets a transformer have images that are not square, which diffusers cuts into wrong patches: its last steps."""
    def forward(x, times, labels):
        rows, columns = (n // model.patch_size for n in x.shape[2:])
        kept = []
        handle = model.proj_out_2.register_forward_hook(lambda module, inputs, output: kept.append(output))
        try:
            model(x, times, class_labels=labels)
        except RuntimeError:
            pass  # the reshape to a square
        handle.remove()
        patches = kept[0].reshape(len(x), rows, columns, model.patch_size, model.patch_size, model.out_channels)
        return torch.einsum("nhwpqc->nchpwq", patches).reshape(len(x), model.out_channels, *x.shape[2:])
    return forward


def case(name, model, sizes, classes=True):
    """The predictions of a model with synthetic weights for three images of each size."""
    model.eval()
    tensors = fill(model)
    model = model.double()
    forward = any_grid(model) if isinstance(model, diffusers.DiTTransformer2DModel) else (
        lambda x, times, labels: model(x, times, class_labels=labels).sample)
    runs = []
    for height, width in sizes:
        x = elements(1000, [3, 2, height, width]).double()
        with torch.no_grad():
            output = forward(x, torch.tensor(ALL_TIMES, dtype=torch.float64), torch.tensor(THREE) if classes else None)
        runs.append({"height": height, "width": width, "prediction": listed(output[:, :2])})
    return {"name": name, "config": config_of(model), "tensors": tensors, "times": ALL_TIMES,
            "classes": THREE if classes else [], "runs": runs}


def schedule_case(name, kind, steps, eta=0.0, **options):
    """Alphas, times and results of the steps of a sampler, whose model always predicts the same."""
    scheduler = kind(**options)
    scheduler.set_timesteps(steps)
    shape = [1, 1, 3, 5]
    x, prediction = elements(1000, shape) * float(scheduler.init_noise_sigma), elements(1001, shape)
    fresh, inputs = elements(1002, shape), []
    for t in scheduler.timesteps:
        inputs.append(float(scheduler.scale_model_input(x, t).flatten()[0]))
        more = dict(eta=eta, variance_noise=fresh if eta > 0 else None) if kind is diffusers.DDIMScheduler else {}
        x = scheduler.step(prediction, t, x, **more).prev_sample
    return {"name": name, "sampler": "ddim" if kind is diffusers.DDIMScheduler else "euler", "steps": steps, "eta": eta,
            "config": {"_class_name": kind.__name__, **options}, "noise_scale": float(scheduler.init_noise_sigma),
            "alphas": listed(scheduler.alphas_cumprod[[0, 1, 500, -2, -1]]), "times": listed(scheduler.timesteps.double()),
            "inputs": inputs, "result": listed(x)}


def main():
    torch.manual_seed(0)
    unet = lambda **more: diffusers.UNet2DModel(**{**UNET, **more})
    dit = lambda **more: diffusers.DiTTransformer2DModel(**{**DIT, **more})
    own, odd = [(8, 8)], [(8, 8), (2, 14), (6, 10)]
    three = dict(block_out_channels=(8, 8, 16), down_block_types=("DownBlock2D",) * 3, up_block_types=("UpBlock2D",) * 3)
    cases = [
        case("unet_plain", unet(), odd, classes=False),
        case("unet_classes", unet(num_class_embeds=5, layers_per_block=2), own),
        case("unet_attention", unet(num_class_embeds=5, **ATTENTION), odd),
        case("unet_all_attention", unet(num_class_embeds=5, **{**ATTENTION, "attention_head_dim": None,
                                        "down_block_types": ("AttnDownBlock2D",) * 2, "up_block_types": ("AttnUpBlock2D",) * 2}), own),
        case("unet_three_levels", unet(**three, downsample_padding=0, freq_shift=1, flip_sin_to_cos=False), [(8, 8), (12, 20)], False),
        case("unet_scale_shift", unet(num_class_embeds=5, resnet_time_scale_shift="scale_shift", **ATTENTION), own),
        case("unet_scale_shift_groups", unet(num_class_embeds=5, resnet_time_scale_shift="scale_shift", attn_norm_num_groups=2,
                                             **ATTENTION), own),
        case("unet_variants", unet(act_fn="gelu", center_input_sample=True, mid_block_scale_factor=1.5, time_embedding_dim=24,
                                   norm_eps=1e-4, out_channels=4, **ATTENTION), own, classes=False),
        case("unet_no_middle", unet(mid_block_type=None), own, classes=False),
        case("unet_one_level", unet(block_out_channels=(8,), down_block_types=("DownBlock2D",), up_block_types=("UpBlock2D",)),
             [(8, 8), (3, 5)], False),
        case("dit", dit(), [(8, 8), (2, 14), (6, 10)]),
        case("dit_patch_of_four", dit(patch_size=4, num_attention_heads=3, out_channels=4), [(8, 8), (12, 4)]),
        case("dit_variants", dit(patch_size=1, attention_bias=False, activation_fn="gelu", num_layers=1, sample_size=4), [(4, 4), (3, 5)]),
    ]
    ddim, euler = diffusers.DDIMScheduler, diffusers.EulerDiscreteScheduler
    cosine = dict(beta_schedule="squaredcos_cap_v2")
    scaled = dict(beta_schedule="scaled_linear", beta_start=0.00085, beta_end=0.012)
    schedules = [
        schedule_case("ddim", ddim, 20),
        schedule_case("ddim_unclipped", ddim, 7, clip_sample=False, steps_offset=1, set_alpha_to_one=False, **scaled),
        schedule_case("ddim_v_cosine", ddim, 20, prediction_type="v_prediction", **cosine),
        schedule_case("ddim_sample", ddim, 20, prediction_type="sample", timestep_spacing="trailing", clip_sample_range=0.5),
        schedule_case("ddim_linspace", ddim, 13, timestep_spacing="linspace", prediction_type="v_prediction"),
        schedule_case("ddim_eta", ddim, 20, eta=1.0),
        schedule_case("ddim_half_eta", ddim, 9, eta=0.5, prediction_type="v_prediction", **scaled),
        schedule_case("ddim_one_step", ddim, 1, timestep_spacing="trailing"),
        schedule_case("ddim_all_steps", ddim, 1000, clip_sample=False),
        schedule_case("euler", euler, 20),
        schedule_case("euler_v_cosine", euler, 20, prediction_type="v_prediction", timestep_spacing="leading", **cosine),
        schedule_case("euler_leading", euler, 11, timestep_spacing="leading", steps_offset=1, **scaled),
        schedule_case("euler_sample", euler, 5, prediction_type="sample"),
        schedule_case("euler_karras", euler, 20, use_karras_sigmas=True),
        schedule_case("euler_karras_v", euler, 10, use_karras_sigmas=True, prediction_type="v_prediction", **scaled),
        schedule_case("euler_one_step", euler, 1, timestep_spacing="trailing"),
    ]
    path = pathlib.Path(__file__).with_name("diffusion_cases.json")
    lines = [",\n".join(json.dumps(each, separators=(",", ":")) for each in part) for part in (cases, schedules)]
    path.write_text('{"diffusers":"%s","cases":[\n%s\n],"schedules":[\n%s\n]}\n' % (diffusers.__version__, *lines))


if __name__ == "__main__":
    main()
