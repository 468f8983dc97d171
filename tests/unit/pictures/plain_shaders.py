"""Plain NumPy twins of the drawing kernels: what they do, said simply; slow, for small pictures and tests."""

from __future__ import annotations

import numpy as np

from choreograph.base.arrays import Bytes, Floats, Floats32, Ints32

F32 = Floats32
F64 = Floats
I32 = Ints32


def draw_triangles(screen: F64, triangles: I32, depth: F32, owner: I32) -> None:
    """Fill a z-buffer with triangles; those that face away or reach behind the camera are left out.

    Args:
        screen: Corners as pixels right, pixels down and nearness (inverse depth, linear on the screen), (V, 3).
        triangles: Corner indices, counter-clockwise seen from the front, (T, 3).
        depth: Nearness of the nearest surface at each pixel's centre, (H, W), written to; zero is infinitely far.
        owner: Index of the triangle seen there, (H, W), written to.
    """
    for number, corners in enumerate(triangles):
        (ax, ay, aw), (bx, by, bw), (cx, cy, cw) = screen[corners]
        area = (cx - ax) * (by - ay) - (bx - ax) * (cy - ay)
        if min(aw, bw, cw) <= 0 or area <= 0:
            continue
        rows, columns = _box(screen[corners, :2], depth.shape)
        x, y = np.meshgrid(np.arange(columns.start, columns.stop) + 0.5, np.arange(rows.start, rows.stop) + 0.5)
        share_b = ((y - ay) * (cx - ax) - (x - ax) * (cy - ay)) / area
        share_c = ((x - ax) * (by - ay) - (y - ay) * (bx - ax)) / area
        near = (aw + share_b * (bw - aw) + share_c * (cw - aw)).astype(np.float32)
        hit = (share_b >= 0) & (share_c >= 0) & (share_b + share_c <= 1) & (near > depth[rows, columns])
        depth[rows, columns][hit] = near[hit]
        owner[rows, columns][hit] = number


def cover_triangles(points: F64, triangles: I32, slopes: F64, place: F64, count: F32) -> None:
    """Count along how many directions each texel of the floor lies in the shadow of triangles.

    Args:
        points: Corners in the world, (V, 3), metres.
        triangles: Corner indices, (T, 3).
        slopes: Directions of light, as metres in x and z per metre of height, (R, 2).
        place: Texels per metre, and x and z of the texture's first corner, (3,).
        count: Shadows on each texel's centre, (H, W), added to.
    """
    for slope in slopes:
        flat = (points[:, [0, 2]] - points[:, 1:2] * slope - place[1:]) * place[0]
        owner = np.full(count.shape, -1, np.int32)
        screen = np.column_stack([flat, np.ones(len(flat))])
        draw_triangles(screen, triangles, np.zeros(count.shape, np.float32), owner)
        count += owner >= 0


def paint_strokes(homography: F64, segments: F64, ring: float, low: I32, high: I32, cover: F32) -> None:
    """Coverage of pixels by round-ended pieces of line on the floor, the largest where several meet.

    The distance from the line is known in closed form at each pixel, and so is how fast it changes from pixel to
    pixel; their ratio antialiases the edge. A line thinner than a pixel is drawn a pixel wide and fainter.

    Args:
        homography: From pixels to the floor, see `Camera.floor_homography`.
        segments: Each piece's ends x, z, x, z, its half width (metres) and opacity, (S, 6).
        ring: Half width of a rim just inside the outline, which alone is drawn; 0 fills the shape.
        low: First pixel that each piece may touch, (S, 2), as (x, y).
        high: Pixel after the last one.
        cover: (H, W), written to.
    """
    x, z, w, jacobian = _floor_points(homography, cover.shape)
    columns, rows = np.meshgrid(np.arange(cover.shape[1]), np.arange(cover.shape[0]))
    for (ax, az, bx, bz, radius, opacity), first, last in zip(segments, low, high, strict=True):
        edge = np.array([bx - ax, bz - az])
        along = np.clip(((x - ax) * edge[0] + (z - az) * edge[1]) / max(edge @ edge, 1e-12), 0, 1)
        dx, dz = x - ax - along * edge[0], z - az - along * edge[1]
        far = np.hypot(dx, dz)
        safe = np.where(far > 1e-9, far, 1.0)
        nx, nz = np.where(far > 1e-9, dx / safe, 0.0), np.where(far > 1e-9, dz / safe, 1.0)
        step = np.hypot(nx * jacobian[0] + nz * jacobian[2], nx * jacobian[1] + nz * jacobian[3]) + 1e-12
        half = ring if ring > 0 else radius
        drawn = np.maximum(half, 0.5 * step)
        out = np.abs(far - radius + ring) if ring > 0 else far
        value = np.clip((drawn - out) / step + 0.5, 0, 1) * (half / drawn) * opacity
        inside = (columns >= first[0]) & (rows >= first[1]) & (columns < last[0]) & (rows < last[1]) & (w > 1e-6)
        np.maximum(cover, np.where(inside, value, 0.0), out=cover, casting="same_kind")


def lay_over(layer: F32, cover: F32, colour: F32) -> None:
    """Lay a colour over a layer of premultiplied RGB and opacity (H, W, 4), where and as much as `cover` says."""
    alpha = cover[..., None]
    layer += alpha * (np.append(colour, np.float32(1.0)) - layer)


def shade_floor(
    homography: F64, colours: F32, numbers: F64, key: F32, fill: F32, place: F64, paint: F32, image: F32
) -> None:
    """Fill a picture with the floor: grid, shadows, paint, light that falls off, fog to the horizon.

    Args:
        homography: From pixels to the floor, see `Camera.floor_homography`.
        colours: Linear RGB of the background, the floor, and lines each metre and each five metres, (4, 3).
        numbers: Height of the eye; 1 over the distance at which fog hides half; x and z of the middle of the light; 1
            over the square of its radius; the share of the light that is the key's.
        key: How much of the key light each texel of the floor sees, (H, W).
        fill: How much of the sky.
        place: Where the two textures lie: texels per metre, x and z of the first corner, (2, 3).
        paint: Premultiplied linear RGB and opacity, (height, width, 4); empty for none.
        image: Linear RGB, (height, width, 3), written to.
    """
    eye_height, fog, centre_x, centre_z, pool, share = numbers
    x, z, w, jacobian = _floor_points(homography, image.shape[:2])
    below = w > 1e-6
    depth = 1 / np.where(below, w, 1e-6)
    clear = np.where(below, 1 / (1 + (eye_height * depth * fog) ** 4), 0.0)
    clear[clear < 0.004] = 0.0
    seen = clear / (1 + ((x - centre_x) ** 2 + (z - centre_z) ** 2) * pool)
    step_x, step_z = np.hypot(jacobian[0], jacobian[1]), np.hypot(jacobian[2], jacobian[3])
    thin = np.maximum(_grid_lines(x, step_x, 1.0, 0.005), _grid_lines(z, step_z, 1.0, 0.005))
    bold = np.maximum(_grid_lines(x, step_x, 5.0, 0.008), _grid_lines(z, step_z, 5.0, 0.008))
    thin = thin * (1 - bold)
    lit = share * _look_up(key, place[0], x, z) + (1 - share) * _look_up(fill, place[1], x, z)
    base = colours[1] + thin[..., None] * (colours[2] - colours[1]) + bold[..., None] * (colours[3] - colours[1])
    image[:] = colours[0] + (base * lit[..., None] - colours[0]) * seen[..., None]
    if paint.size:
        lay, hide = clear * (0.5 + 0.5 * lit), paint[..., 3] * clear
        image[:] = image * (1 - hide[..., None]) + paint[..., :3] * lay[..., None]


def shade_figures(
    screen: F64, triangles: I32, normals: F32, colours: F32, depth: F32, owner: I32, origin: I32, samples: int,
    view: F64, light: F64, shadow: F32, light_view: F64, hemisphere: F64, numbers: F64, background: F32, image: F32,
) -> None:  # fmt: skip
    """Light the samples of a z-buffer and lay them over a picture, each pixel by its covered share.

    One key light with a soft gloss and a shadow map, a hemisphere's fill, a sheen at grazing angles, a filmic curve.
    Where all samples of a pixel lie on one smooth surface (depths within 0.3 %, normals within 26 degrees), the one
    near the middle stands for all.

    Args:
        screen: Corners in samples right and down and inverse depth, (V, 3).
        triangles: Corner indices, (T, 3).
        normals: Unit normals at the corners, (V, 3).
        colours: Linear RGB at the corners, (V, 3).
        depth: Inverse depth at each sample, the same shape as `owner`.
        owner: Triangle seen at each sample, -1 for none, (rows * samples, columns * samples).
        origin: Pixel of the picture at which the z-buffer begins, (2,), as (x, y).
        samples: Samples across a pixel, and down.
        view: Eye; right, up and forward; focal length and middle of the picture in pixels, (5, 3).
        light: Direction to the key light, and its linear colour, (2, 3).
        shadow: Closeness to the light of the nearest surface, (H, W).
        light_view: From the world to texels right and down and closeness, (3, 4).
        hemisphere: Linear colours of the fill from above and below, (2, 3).
        numbers: Exposure; strength of the sheen; 1 over the distance at which fog hides half; how far points are
            lifted off the surface before they are looked up in the shadow map, metres.
        background: Linear RGB of the fog, (3,).
        image: Linear RGB, written to.
    """
    exposure, rim, fog, inset = numbers
    focal, *middle = view[4]
    blocks = (owner.shape[0] // samples, samples, owner.shape[1] // samples, samples)
    hit, near = (owner >= 0).reshape(blocks), depth.reshape(blocks)
    most, least = near.max(axis=(1, 3)), near.min(axis=(1, 3))
    smooth = hit.all(axis=(1, 3)) & (most - least < np.float32(0.003) * most)
    whose = normals[triangles[np.maximum(owner, 0), 0]].reshape(*blocks, 3)
    for corner in (whose[:, 0, :, -1], whose[:, -1, :, 0], whose[:, -1, :, -1]):
        smooth &= (whose[:, 0, :, 0] * corner).sum(axis=-1) > np.float32(0.9)
    weight = np.where(hit, 1.0, 0.0) / samples**2
    middle_row = middle_column = samples // 2
    weight = np.where(smooth[:, None, :, None], 0.0, weight)
    weight[:, middle_row, :, middle_column] += smooth
    weight = weight.reshape(owner.shape)
    rows, columns = np.nonzero(weight > 0)
    corners = triangles[owner[rows, columns]]
    a, b, c = (screen[corners[:, k]] for k in range(3))
    at = np.column_stack([columns, rows]) + 0.5
    area = (c[:, 0] - a[:, 0]) * (b[:, 1] - a[:, 1]) - (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1])
    q = at - a[:, :2]
    share_b = (q[:, 1] * (c[:, 0] - a[:, 0]) - q[:, 0] * (c[:, 1] - a[:, 1])) / area
    share_c = (q[:, 0] * (b[:, 1] - a[:, 1]) - q[:, 1] * (b[:, 0] - a[:, 0])) / area
    # Perspective-correct shares: screen shares weighted by inverse depth.
    weights = np.stack([(1 - share_b - share_c) * a[:, 2], share_b * b[:, 2], share_c * c[:, 2]], axis=1)
    distance = 1 / weights.sum(axis=1)
    weights *= distance[:, None]
    normal = _unit(np.einsum("nk,nkd->nd", weights, normals[corners]))
    albedo = np.einsum("nk,nkd->nd", weights, colours[corners])
    offset = (origin + at / samples - middle) / focal
    ray = view[3] + offset[:, :1] * view[1] - offset[:, 1:] * view[2]
    point = view[0] + ray * distance[:, None]
    back = -_unit(ray)
    direct = normal @ light[0]
    lifted = point + inset * normal
    texel = lifted @ light_view[:, :3].T + light_view[:, 3]
    seen = np.where(direct > 0, direct * _light_seen(shadow, texel), 0.0)
    half = np.maximum(0.0, np.einsum("nd,nd->n", normal, _unit(light[0] + back)))
    gloss = 0.10 * half**16 * seen
    up = 0.5 + 0.5 * normal[:, 1]
    open_sky = 0.75 + 0.25 * np.clip(point[:, 1] * 1.4, 0, 1)
    fill = (hemisphere[0] * up[:, None] + hemisphere[1] * (1 - up[:, None])) * open_sky[:, None]
    graze = 1 - np.maximum(0.0, np.einsum("nd,nd->n", normal, back))
    edge = rim * graze**3 * (0.35 + 0.65 * up)
    value = albedo * (light[1] * seen[:, None] + fill) + light[1] * gloss[:, None] + edge[:, None] * hemisphere[0]
    clear = 1 / (1 + (fog * distance) ** 4)
    value = background + (np.minimum(1.0, tone(exposure * value)) - background) * clear[:, None]
    share = weight[rows, columns]
    pixel = (origin[1] + rows // samples, origin[0] + columns // samples)
    covered = np.zeros(image.shape[:2])
    total = np.zeros(image.shape)
    np.add.at(covered, pixel, share)
    np.add.at(total, pixel, value * share[:, None])
    image[:] = image * (1 - covered[..., None]) + total


def encode(image: F32, table: F32, noise: F32, out: Bytes) -> None:
    """Turn linear values into sRGB bytes, dithered.

    Args:
        image: Linear RGB, (H, W, 3).
        table: SRGB values from 0 to 255 of linear values from 0 to 1 whose roots are evenly spaced: sRGB is nearly
            a square root, so that a short table is exact enough.
        noise: A tile of values in (0, 1) that decide which way a value is rounded.
        out: (H, W, 3), written to.
    """
    rows, columns = (np.arange(n) % t for n, t in zip(image.shape[:2], noise.shape, strict=True))
    index = (np.sqrt(np.clip(image, 0, 1)) * np.float32(len(table) - 1) + np.float32(0.5)).astype(int)
    out[:] = (table[index] + noise[np.ix_(rows, columns)][..., None]).astype(np.uint8)


def tone(x: F64) -> F64:
    """Filmic curve: the rational fit to the ACES reference rendering given by Narkowicz (2015)."""
    return np.asarray((x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14))


def _box(corners: F64, shape: tuple[int, ...]) -> tuple[slice, slice]:
    """Rows and columns of the pixels whose centres lie within the box around points."""
    first = np.maximum(0, np.ceil(corners.min(axis=0) - 0.5)).astype(int)
    last = np.minimum([shape[1], shape[0]], np.floor(corners.max(axis=0) - 0.5) + 1).astype(int)
    last = np.maximum(first, last)
    return slice(first[1], last[1]), slice(first[0], last[0])


def _floor_points(homography: F64, shape: tuple[int, ...]) -> tuple[F64, F64, F64, tuple[F64, F64, F64, F64]]:
    """Floor x and z at each pixel's centre, the weight w, and how x and z change per pixel right and down."""
    columns, rows = np.meshgrid(np.arange(shape[1]) + 0.5, np.arange(shape[0]) + 0.5)
    x, z, w = np.einsum("ik,kyx->iyx", homography, np.stack([columns, rows, np.ones_like(rows)]))
    safe = np.where(w > 1e-6, w, 1e-6)
    x, z = x / safe, z / safe
    (xx, xy, _), (zx, zy, _), (wx, wy, _) = homography
    slopes = ((xx - x * wx) / safe, (xy - x * wy) / safe, (zx - z * wx) / safe, (zy - z * wy) / safe)
    return x, z, w, slopes


def _grid_lines(x: F64, step: F64, spacing: float, half: float) -> F64:
    """Coverage by lines of half width `half` at multiples of `spacing`.

    Where lines come closer to each other than a few pixels, their mean takes over.
    """
    distance = np.abs(x - spacing * np.floor(x / spacing + 0.5))
    drawn = np.maximum(half, 0.5 * step)
    line = np.clip((drawn - distance) / step + 0.5, 0, 1) * np.minimum(1.0, 2 * half / step)
    fade = np.clip(step * 5 / spacing - 0.5, 0, 1)
    return np.asarray(line + (2 * half / spacing - line) * fade)


def _look_up(texture: F32, place: F64, x: F64, z: F64) -> F64:
    """A texture laid on the floor, between its texels; 1 beyond its rim."""
    u, v = (x - place[1]) * place[0] - 0.5, (z - place[2]) * place[0] - 0.5
    inside = (u >= 0) & (v >= 0) & (u < texture.shape[1] - 1) & (v < texture.shape[0] - 1)
    u, v = np.where(inside, u, 0.0), np.where(inside, v, 0.0)
    c, r = u.astype(int), v.astype(int)
    right, below = np.minimum(c + 1, texture.shape[1] - 1), np.minimum(r + 1, texture.shape[0] - 1)
    upper = texture[r, c] + (texture[r, right] - texture[r, c]) * (u - c)
    lower = texture[below, c] + (texture[below, right] - texture[below, c]) * (u - c)
    return np.where(inside, upper + (lower - upper) * (v - r), 1.0)


def _light_seen(shadow: F32, texel: F64) -> F64:
    """Share of a 3 x 3 neighbourhood, tent weighted at its rim, from which the light is seen."""
    corner = np.floor(texel[:, :2] - 0.5).astype(int)
    (u, v), (c, r) = (texel[:, :2] - 0.5 - corner).T, corner.T
    inside = (c >= 1) & (r >= 1) & (c < shadow.shape[1] - 3) & (r < shadow.shape[0] - 3)
    c, r = np.where(inside, c, 1), np.where(inside, r, 1)
    total = np.zeros(len(texel))
    for j, down in enumerate((1 - v, 1.0, 1.0, v)):
        for i, across in enumerate((1 - u, 1.0, 1.0, u)):
            rows, columns = np.minimum(r - 1 + j, shadow.shape[0] - 1), np.minimum(c - 1 + i, shadow.shape[1] - 1)
            total += (shadow[rows, columns] <= texel[:, 2]) * down * across
    return np.where(inside, total / 9, 1.0)


def _unit(vectors: F64) -> F64:
    return np.asarray(vectors / np.sqrt((vectors**2).sum(axis=1, keepdims=True) + 1e-12))
