"""Writes digits_diffusion.json: what diffusers draws with the models in examples/models, in double, and a classifier of
real digits.

    pip install torch diffusers transformers scikit-learn && python digits_diffusion.py
"""

import json
import pathlib

import diffusers
import torch
from diffusion_cases import listed  # computes embeddings of times in double
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

MODELS = pathlib.Path(__file__).parents[2] / "examples" / "models"
CLASSES, NULL_CLASS, STEPS = [3, 0, 8], 10, 20


def draw(kind, sampler, guidance, noise, dtype=torch.float64, **options):
    folder = MODELS / f"digits-{kind}"
    model = (diffusers.UNet2DModel if kind == "unet" else diffusers.DiTTransformer2DModel).from_pretrained(folder)
    model = model.to(dtype).eval()
    scheduler = sampler.from_pretrained(folder, **options)
    scheduler.set_timesteps(STEPS)
    labels = torch.tensor(CLASSES)
    both = torch.cat([labels, torch.full_like(labels, NULL_CLASS)])
    x = noise.to(dtype) * float(scheduler.init_noise_sigma)
    with torch.no_grad():
        for t in scheduler.timesteps:
            inputs = scheduler.scale_model_input(x, t).to(dtype)
            given, free = model(torch.cat([inputs, inputs]), t.expand(6), class_labels=both).sample.chunk(2)
            x = scheduler.step(free + guidance * (given - free), t, x).prev_sample
    return x


def main():
    torch.manual_seed(3)
    noise = torch.randn(3, 1, 8, 8)
    cases = []
    ddim, euler = diffusers.DDIMScheduler, diffusers.EulerDiscreteScheduler
    for kind in ("unet", "dit"):
        for name, sampler, guidance, options in (("ddim", ddim, 2, {}), ("ddim", ddim, 1, {}), ("euler", euler, 2, {}),
                                                 ("euler_karras", euler, 1, {"use_karras_sigmas": True})):
            result = draw(kind, sampler, guidance, noise, **options)
            single = draw(kind, sampler, guidance, noise, dtype=torch.float32, **options)
            print(f"{kind} {name} guidance {guidance}: f32 differs by {(single - result).abs().max():.1e}")
            cases.append({"model": f"digits-{kind}", "sampler": name, "guidance": guidance, "images": listed(result)})
    images, classes = load_digits(return_X_y=True)
    known = LogisticRegression(C=0.1, max_iter=2000).fit(images[::2] / 8 - 1, classes[::2])
    print(f"logistic regression: {known.score(images[1::2] / 8 - 1, classes[1::2]):.1%} of the other half of the digits")
    data = {"diffusers": diffusers.__version__, "steps": STEPS, "classes": CLASSES, "noise": listed(noise), "cases": cases,
            "classifier": {"weights": [[float(f"{w:.5g}") for w in row] for row in known.coef_],
                           "bias": [float(f"{b:.5g}") for b in known.intercept_]}}
    path = pathlib.Path(__file__).with_name("digits_diffusion.json")
    path.write_text(json.dumps(data, separators=(",", ":")).replace('{"model"', '\n{"model"').replace('"classifier"', '\n"classifier"') + "\n")


if __name__ == "__main__":
    main()
