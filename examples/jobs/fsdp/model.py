"""A small transformer and synthetic data. Replace both with yours."""

from __future__ import annotations

import torch
from torch import nn

VOCABULARY = 64


class Block(nn.Module):
    """One layer: causal attention, then a two-layer network. FSDP shards these blocks."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.before_attention, self.before_network = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, dropout=dropout, batch_first=True)
        self.network = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(dropout))

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the layer's output."""
        normal = self.before_attention(x)
        x = x + self.attention(normal, normal, normal, attn_mask=mask, need_weights=False)[0]
        return x + self.network(self.before_network(x))


class Transformer(nn.Module):
    """Predict each next token."""

    def __init__(self, length: int, width: int = 64, heads: int = 4, layers: int = 2, dropout: float = 0.1) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads, dropout) for _ in range(layers))
        self.head = nn.Linear(width, VOCABULARY)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the logits of the token after each of ``tokens``."""
        length = tokens.shape[1]
        x = self.tokens(tokens) + self.places(torch.arange(length, device=tokens.device))
        mask = nn.Transformer.generate_square_subsequent_mask(length, device=tokens.device)
        for block in self.blocks:
            x = block(x, mask)
        return self.head(x)


def samples(first: int, count: int, length: int) -> torch.Tensor:
    """Return samples ``first`` to ``first + count - 1``: sequences of ``length + 1`` tokens, each with a constant increment.

    A sample depends only on its number, so one number is the position in the data, after any number of restarts. A real data
    set needs the same: an order that is fixed by a seed, and a number to resume from.
    """
    rows = []
    for number in range(first, first + count):
        generator = torch.Generator().manual_seed(number)
        start, step = torch.randint(VOCABULARY, (2,), generator=generator)
        rows.append((start + step * torch.arange(length + 1)) % VOCABULARY)
    return torch.stack(rows)
