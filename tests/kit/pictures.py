"""Pictures for tests, made of a number: unlike each other, and edited copies."""

from __future__ import annotations

import base64
import io
import random
from typing import Any

from PIL import Image, ImageDraw, ImageFilter

SIZE = (320, 240)


def photograph(seed: int) -> Image.Image:
    """A picture with shades and shapes, another one for each seed."""
    chance = random.Random(seed)
    picture = Image.linear_gradient("L").resize(SIZE).convert("RGB")
    draw = ImageDraw.Draw(picture)
    for _ in range(24):
        x, y = chance.randrange(-40, SIZE[0]), chance.randrange(-40, SIZE[1])
        box = (x, y, x + chance.randrange(20, 120), y + chance.randrange(20, 120))
        draw.ellipse(box, fill=tuple(chance.randrange(256) for _ in range(3)))
    return picture.filter(ImageFilter.GaussianBlur(1))


def edited(picture: Image.Image) -> Image.Image:
    """The picture with a stamp in a corner, cut by 5 %, at two thirds of its size."""
    picture = picture.copy()
    ImageDraw.Draw(picture).text((200, 215), "example.com", fill="white")
    width, height = picture.size
    cut = picture.crop((0, 0, width, int(height * 0.95)))
    return cut.resize((width * 2 // 3, height * 2 // 3))


def encoded(picture: Image.Image, form: str = "PNG", **options: Any) -> bytes:
    """The bytes of a file of the picture."""
    file = io.BytesIO()
    picture.save(file, form, **options)
    return file.getvalue()


def png(picture: Image.Image) -> dict[str, Any]:
    """A page of the test server with the picture."""
    body = base64.b64encode(encoded(picture)).decode()
    return {"body_base64": body, "headers": {"Content-Type": "image/png"}}
