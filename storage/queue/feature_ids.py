"""Numbers of link features in a pending entry and in a page hash: two characters each.

A topic crawl ranks a waiting URL by the features of the link that found it. The queue keeps their
numbers with the URL, ``AAB_`` for 0 and 127, so that the URL can be ranked again.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

MOST_FEATURES = 16
MOST_IDS = 4096
"""Numbers are 0..4095: two of 64 characters."""

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_PAIRS = tuple((a + b).encode() for a in _LETTERS for b in _LETTERS)
_SHAPES = tuple(struct.Struct(f">{n}H").unpack for n in range(MOST_FEATURES + 1))
_ID_OF = {int.from_bytes(pair, "big"): number for number, pair in enumerate(_PAIRS)}.__getitem__


def pack_features(features: Sequence[int]) -> bytes:
    """Encodes numbers of features, ``b"AAB_"`` for (0, 127); ``b""`` for none.

    Raises:
        ValueError: More than ``MOST_FEATURES``, or a number that is not 0..4095.
    """
    if len(features) > MOST_FEATURES or not all(0 <= each < MOST_IDS for each in features):
        raise ValueError(f"{len(features)} features of a link: at most {MOST_FEATURES} of 0..4095")
    return b"".join([_PAIRS[each] for each in features])


def unpack_features(packed: bytes) -> tuple[int, ...]:
    """Decodes the numbers that ``pack_features`` packed.

    Raises:
        ValueError: The bytes are no packed features.
    """
    try:
        return tuple(map(_ID_OF, _SHAPES[len(packed) // 2](packed)))
    except (LookupError, struct.error) as error:
        raise ValueError(f"no features: {packed!r:.80}") from error
