"""GPT-2 and DistilBERT as plain PyTorch modules, for PyTorch itself and for export to other engines."""
import torch
from torch import nn
from torch.nn import functional as F

WIDTH, HEADS, INNER = 768, 12, 3072


def split_heads(x):
    return x.view(x.shape[0], x.shape[1], HEADS, WIDTH // HEADS).transpose(1, 2)


def join_heads(x):
    return x.transpose(1, 2).reshape(x.shape[0], x.shape[2], WIDTH)


class Gpt2Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)

    def forward(self, x, past):
        q, k, v = (split_heads(part) for part in self.qkv(self.ln_1(x)).split(WIDTH, 2))
        if past is None:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            y = F.scaled_dot_product_attention(q, torch.cat((past[0], k), 2), torch.cat((past[1], v), 2))
        x = x + self.out(join_heads(y))
        return x + self.down(F.gelu(self.up(self.ln_2(x)), approximate="tanh")), k, v


class Gpt2(nn.Module):
    """ids [B,T], cached keys and values of each layer -> logits of the last position, keys and values of these ids."""

    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(50257, WIDTH), nn.Embedding(1024, WIDTH)
        self.layers = nn.ModuleList(Gpt2Layer() for _ in range(12))
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, ids, *past):
        first = past[0].shape[2] if past else 0
        x = self.tokens(ids) + self.positions.weight[first : first + ids.shape[1]]
        states = []
        for i, layer in enumerate(self.layers):
            x, k, v = layer(x, past[2 * i : 2 * i + 2] if past else None)
            states += [k, v]
        return (F.linear(self.norm(x[:, -1]), self.tokens.weight), *states)

    NAMES = {"ln_1": "ln_1", "ln_2": "ln_2", "attn.c_attn": "qkv", "attn.c_proj": "out", "mlp.c_fc": "up", "mlp.c_proj": "down"}

    def take(self, weights):
        """Loads a state dictionary with Hugging Face's names, whose projections are [in, out]."""
        own = {"tokens.weight": weights["transformer.wte.weight"], "positions.weight": weights["transformer.wpe.weight"]}
        for part in ("weight", "bias"):
            own[f"norm.{part}"] = weights[f"transformer.ln_f.{part}"]
            for i in range(12):
                for theirs, ours in self.NAMES.items():
                    tensor = weights[f"transformer.h.{i}.{theirs}.{part}"]
                    own[f"layers.{i}.{ours}.{part}"] = tensor.t().contiguous() if tensor.dim() == 2 else tensor
        self.load_state_dict(own, assign=True)
        return self.eval()


class DistilBertLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.norm_1, self.norm_2 = nn.LayerNorm(WIDTH, 1e-12), nn.LayerNorm(WIDTH, 1e-12)
        self.up, self.down = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)

    def forward(self, x, mask):
        y = F.scaled_dot_product_attention(split_heads(self.q(x)), split_heads(self.k(x)), split_heads(self.v(x)), mask)
        x = self.norm_1(x + self.out(join_heads(y)))
        return self.norm_2(x + self.down(F.gelu(self.up(x))))


class DistilBert(nn.Module):
    """ids [B,S], mask [B,S] of booleans (None: all count) -> logits [B,2]."""

    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(30522, WIDTH), nn.Embedding(512, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, 1e-12)
        self.layers = nn.ModuleList(DistilBertLayer() for _ in range(6))
        self.pre, self.classifier = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 2)

    def forward(self, ids, mask=None):
        x = self.norm(self.tokens(ids) + self.positions.weight[: ids.shape[1]])
        for layer in self.layers:
            x = layer(x, None if mask is None else mask[:, None, None, :])
        return self.classifier(F.relu(self.pre(x[:, 0])))

    NAMES = {"attention.q_lin": "q", "attention.k_lin": "k", "attention.v_lin": "v", "attention.out_lin": "out",
             "sa_layer_norm": "norm_1", "output_layer_norm": "norm_2", "ffn.lin1": "up", "ffn.lin2": "down"}

    def take(self, weights):
        own = {"tokens.weight": weights["distilbert.embeddings.word_embeddings.weight"],
               "positions.weight": weights["distilbert.embeddings.position_embeddings.weight"]}
        for part in ("weight", "bias"):
            own[f"norm.{part}"] = weights[f"distilbert.embeddings.LayerNorm.{part}"]
            own[f"pre.{part}"] = weights[f"pre_classifier.{part}"]
            own[f"classifier.{part}"] = weights[f"classifier.{part}"]
            for i in range(6):
                for theirs, ours in self.NAMES.items():
                    own[f"layers.{i}.{ours}.{part}"] = weights[f"distilbert.transformer.layer.{i}.{theirs}.{part}"]
        self.load_state_dict(own, assign=True)
        return self.eval()
