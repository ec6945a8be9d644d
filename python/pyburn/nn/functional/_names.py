"""Functions over images that PyTorch has in its main module too, as ``pyburn.conv2d``."""

from __future__ import annotations

from pyburn.nn.functional._conv import conv1d as conv1d
from pyburn.nn.functional._conv import conv2d as conv2d
from pyburn.nn.functional._conv import conv3d as conv3d
from pyburn.nn.functional._conv import conv_tbc as conv_tbc
from pyburn.nn.functional._conv import conv_transpose1d as conv_transpose1d
from pyburn.nn.functional._conv import conv_transpose2d as conv_transpose2d
from pyburn.nn.functional._conv import conv_transpose3d as conv_transpose3d
from pyburn.nn.functional._pool import adaptive_avg_pool1d as adaptive_avg_pool1d

# There it always gives the places too.
from pyburn.nn.functional._pool import adaptive_max_pool1d_with_indices as adaptive_max_pool1d
from pyburn.nn.functional._pool import avg_pool1d as avg_pool1d
from pyburn.nn.functional._pool import max_pool1d as max_pool1d
from pyburn.nn.functional._pool import max_pool1d_with_indices as max_pool1d_with_indices
from pyburn.nn.functional._pool import max_pool2d as max_pool2d
from pyburn.nn.functional._pool import max_pool3d as max_pool3d
from pyburn.nn.functional._vision import channel_shuffle as channel_shuffle
from pyburn.nn.functional._vision import native_channel_shuffle as native_channel_shuffle
from pyburn.nn.functional._vision import pixel_shuffle as pixel_shuffle
from pyburn.nn.functional._vision import pixel_unshuffle as pixel_unshuffle

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_max_pool1d",
    "avg_pool1d",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool3d",
    "native_channel_shuffle",
    "pixel_shuffle",
    "pixel_unshuffle",
]
