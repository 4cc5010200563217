"""Trains the diffusion models digits-unet and digits-dit, and judges what they draw.

    pip install torch diffusers scikit-learn && python train_digits.py unet && python train_digits.py dit
    python train_digits.py judge                 # images drawn by diffusers, as numbers for README.md
    python train_digits.py judge grid.png        # images that the example `diffusion` has drawn

The data are the digits of scikit-learn's load_digits(). Five minutes of one core for the U-Net, and three and a half for
the transformer.
"""

import copy
import json
import pathlib
import sys
import time

import numpy as np
import torch
from diffusers import DDIMScheduler, DiTTransformer2DModel, UNet2DModel
from sklearn.datasets import load_digits
from sklearn.svm import SVC

HERE = pathlib.Path(__file__).parent
NULL_CLASS = 10  # trained with a tenth of the images, for classifier-free guidance
BATCH = 128
STEPS = {"unet": 3000, "dit": 4000}


def digits():
    """Images in [-1,1] and their classes."""
    images, classes = load_digits(return_X_y=True)
    return torch.tensor(images / 8 - 1, dtype=torch.float32).reshape(-1, 1, 8, 8), torch.tensor(classes)


def make(kind):
    """The untrained model and its schedule. Predicted images are not clipped: with guidance DDIM would then keep noise."""
    if kind == "unet":
        model = UNet2DModel(sample_size=8, in_channels=1, out_channels=1, layers_per_block=1, block_out_channels=(16, 32),
                            down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"),
                            norm_num_groups=8, num_class_embeds=11)
        return model, DDIMScheduler(beta_schedule="linear", prediction_type="epsilon", clip_sample=False)
    model = DiTTransformer2DModel(num_attention_heads=3, attention_head_dim=16, in_channels=1, num_layers=3, sample_size=8,
                                  patch_size=2, num_embeds_ada_norm=10)
    for block in model.transformer_blocks:  # adaLN-zero: each block begins as the identity
        torch.nn.init.zeros_(block.norm1.linear.weight)
        torch.nn.init.zeros_(block.norm1.linear.bias)
    for part in (model.proj_out_1, model.proj_out_2):
        torch.nn.init.zeros_(part.weight)
        torch.nn.init.zeros_(part.bias)
    return model, DDIMScheduler(beta_schedule="squaredcos_cap_v2", prediction_type="v_prediction", clip_sample=False)


def train(kind):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model, schedule = make(kind)
    model.eval()  # classes are dropped here, not by the model
    average = copy.deepcopy(model)
    images, classes = digits()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    rate = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=2e-3, total_steps=STEPS[kind], pct_start=0.05)
    begun, recent = time.process_time(), []
    for step in range(STEPS[kind]):
        pick = torch.randint(len(images), (BATCH,))
        x, labels = images[pick], classes[pick].clone()
        labels[torch.rand(BATCH) < 0.1] = NULL_CLASS
        noise, times = torch.randn_like(x), torch.randint(1000, (BATCH,))
        noisy = schedule.add_noise(x, noise, times)
        target = noise if kind == "unet" else schedule.get_velocity(x, noise, times)
        loss = torch.nn.functional.mse_loss(model(noisy, times, class_labels=labels).sample, target)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        rate.step()
        with torch.no_grad():
            decay = min(0.998, (1 + step) / (10 + step))
            for kept, new in zip(average.parameters(), model.parameters()):
                kept.lerp_(new, 1 - decay)
        recent = (recent + [loss.item()])[-500:]
        if step % 100 == 99:
            print(f"{kind} step {step + 1}: loss {np.mean(recent):.4f}, {time.process_time() - begun:.0f} s", flush=True)
    folder = HERE / f"digits-{kind}"
    average.half().save_pretrained(folder)
    schedule.save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text())
    config["null_class"] = NULL_CLASS
    config.pop("_name_or_path", None)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")


def judge_images(name, images, classes):
    """Prints how many images an SVM trained on half of the digits takes for their class."""
    x, y = digits()
    x = x.flatten(1).numpy()
    svm = SVC().fit(x[::2], y[::2])
    right = (svm.predict(images.reshape(len(images), -1)) == classes).sum()
    print(f"{name}: {right} of {len(classes)} recognised; of real digits {svm.score(x[1::2], y[1::2]):.1%}")


def draw(kind, classes, guidance, steps=20):
    """What diffusers draws."""
    folder = HERE / f"digits-{kind}"
    model = (UNet2DModel if kind == "unet" else DiTTransformer2DModel).from_pretrained(folder).float().eval()
    schedule = DDIMScheduler.from_pretrained(folder)
    schedule.set_timesteps(steps)
    torch.manual_seed(1)
    x, labels = torch.randn(len(classes), 1, 8, 8), torch.as_tensor(classes)
    both = torch.cat([labels, torch.full_like(labels, NULL_CLASS)])
    with torch.no_grad():
        for t in schedule.timesteps:
            given, free = model(torch.cat([x, x]), t.expand(len(both)), class_labels=both).sample.chunk(2)
            x = schedule.step(free + guidance * (given - free), t, x).prev_sample
    return x.numpy()


def main(arguments):
    if arguments[0] in STEPS:
        return train(arguments[0])
    if len(arguments) > 1:
        from PIL import Image  # a grid of ten columns, one for each class
        grid = np.asarray(Image.open(arguments[1]), dtype=np.float32)
        scale = (grid.shape[1] + 1) // (10 * 9 - 1)  # columns of eight pixels, and one between them
        pixels = np.pad(grid[scale // 2::scale, scale // 2::scale], ((0, 1), (0, 1)))
        rows = len(pixels) // 9
        images = pixels.reshape(rows, 9, 10, 9)[:, :8, :, :8].transpose(0, 2, 1, 3).reshape(-1, 8, 8) / 127.5 - 1
        return judge_images(arguments[1], images, np.tile(np.arange(10), rows))
    classes = np.tile(np.arange(10), 50)
    for kind in STEPS:
        for guidance in (1, 2, 4):
            judge_images(f"{kind}, guidance {guidance}", draw(kind, classes, guidance), classes)


if __name__ == "__main__":
    main(sys.argv[1:])
