"""Compiled drawing kernels on flat arrays; imported on first use, since importing numba takes a while.

Each has a plain twin of the same name and signature in `tests/unit/pictures/plain_shaders.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from choreograph.base.arrays import Bytes, Floats, Floats32, Ints32
from choreograph.base.compiling import njit

# Division without Python's check for zero, and sums in any order: both let the compiler use vector instructions.
_kernel = njit(cache=True, nogil=True, fastmath=True, error_model="numpy")

F32 = Floats32
F64 = Floats
I32 = Ints32

# Single-precision constants: a plain 1.0 would widen all arithmetic around it.
ZERO, ONE, TWO, FIVE = np.float32(0.0), np.float32(1.0), np.float32(2.0), np.float32(5.0)
ONE_HALF, FIFTH, TINY, FAINT = np.float32(0.5), np.float32(0.2), np.float32(1e-6), np.float32(0.004)
THIN, BOLD = np.float32(0.005), np.float32(0.008)
SMOOTH, ALIKE = np.float32(0.003), np.float32(0.9)


@njit(cache=True, nogil=True, error_model="numpy")
def draw_triangles(screen: F64, triangles: I32, depth: F32, owner: I32) -> None:
    """See `reference.draw_triangles`."""
    height, width = depth.shape
    for t in range(triangles.shape[0]):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        aw, bw, cw = screen[a, 2], screen[b, 2], screen[c, 2]
        if aw <= 0.0 or bw <= 0.0 or cw <= 0.0:
            continue
        ax, ay, bx, by, cx, cy = screen[a, 0], screen[a, 1], screen[b, 0], screen[b, 1], screen[c, 0], screen[c, 1]
        area = (cx - ax) * (by - ay) - (bx - ax) * (cy - ay)
        if area <= 0.0:
            continue
        left = max(0, int(np.ceil(min(ax, bx, cx) - 0.5)))
        right = min(width - 1, int(np.floor(max(ax, bx, cx) - 0.5)))
        top = max(0, int(np.ceil(min(ay, by, cy) - 0.5)))
        bottom = min(height - 1, int(np.floor(max(ay, by, cy) - 0.5)))
        if left > right or top > bottom:
            continue
        # Edge functions opposite b and c, as fractions of the area, linear in x and y.
        bdx, bdy = (cy - ay) / -area, (cx - ax) / area
        cdx, cdy = (by - ay) / area, (bx - ax) / -area
        row_b = (left + 0.5 - ax) * bdx + (top + 0.5 - ay) * bdy
        row_c = (left + 0.5 - ax) * cdx + (top + 0.5 - ay) * cdy
        for y in range(top, bottom + 1):
            share_b, share_c = row_b, row_c
            for x in range(left, right + 1):
                if share_b >= 0.0 and share_c >= 0.0 and share_b + share_c <= 1.0:
                    near = np.float32(aw + share_b * (bw - aw) + share_c * (cw - aw))
                    if near > depth[y, x]:
                        depth[y, x] = near
                        owner[y, x] = t
                share_b += bdx
                share_c += cdx
            row_b += bdy
            row_c += cdy


@njit(cache=True, nogil=True, error_model="numpy")
def cover_triangles(points: F64, triangles: I32, slopes: F64, place: F64, count: F32) -> None:
    """See `reference.cover_triangles`."""
    height, width = count.shape
    flat = np.empty((points.shape[0], 2))
    stamp = np.full((height, width), np.int32(-1), np.int32)
    for ray in range(slopes.shape[0]):
        for p in range(points.shape[0]):
            flat[p, 0] = (points[p, 0] - points[p, 1] * slopes[ray, 0] - place[1]) * place[0] - 0.5
            flat[p, 1] = (points[p, 2] - points[p, 1] * slopes[ray, 1] - place[2]) * place[0] - 0.5
        for t in range(triangles.shape[0]):
            a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            ax, ay, bx, by, cx, cy = flat[a, 0], flat[a, 1], flat[b, 0], flat[b, 1], flat[c, 0], flat[c, 1]
            area = (cx - ax) * (by - ay) - (bx - ax) * (cy - ay)
            if area <= 0.0:
                continue
            left, right = max(0, int(np.ceil(min(ax, bx, cx)))), min(width - 1, int(np.floor(max(ax, bx, cx))))
            top, bottom = max(0, int(np.ceil(min(ay, by, cy)))), min(height - 1, int(np.floor(max(ay, by, cy))))
            for y in range(top, bottom + 1):
                for x in range(left, right + 1):
                    if stamp[y, x] == ray:
                        continue
                    px, py = x - ax, y - ay
                    share_b, share_c = py * (cx - ax) - px * (cy - ay), px * (by - ay) - py * (bx - ax)
                    if share_b >= 0.0 and share_c >= 0.0 and share_b + share_c <= area:
                        stamp[y, x] = ray
                        count[y, x] += ONE


@_kernel
def paint_strokes(homography: F64, segments: F64, ring: float, low: I32, high: I32, cover: F32) -> None:
    """See `reference.paint_strokes`."""
    height, width = cover.shape
    xx, xy, x0 = homography[0, 0], homography[0, 1], homography[0, 2]
    zx, zy, z0 = homography[1, 0], homography[1, 1], homography[1, 2]
    wx, wy, w0 = homography[2, 0], homography[2, 1], homography[2, 2]
    for s in range(segments.shape[0]):
        ax, az, bx, bz = segments[s, 0], segments[s, 1], segments[s, 2], segments[s, 3]
        radius, opacity = segments[s, 4], segments[s, 5]
        ex, ez = bx - ax, bz - az
        inverse = 1.0 / max(ex * ex + ez * ez, 1e-12)
        for y in range(max(0, low[s, 1]), min(height, high[s, 1])):
            for x in range(max(0, low[s, 0]), min(width, high[s, 0])):
                w = wx * (x + 0.5) + wy * (y + 0.5) + w0
                if w <= 1e-6:
                    continue
                px = (xx * (x + 0.5) + xy * (y + 0.5) + x0) / w
                pz = (zx * (x + 0.5) + zy * (y + 0.5) + z0) / w
                along = min(1.0, max(0.0, ((px - ax) * ex + (pz - az) * ez) * inverse))
                dx, dz = px - ax - along * ex, pz - az - along * ez
                far = np.sqrt(dx * dx + dz * dz)
                # Metres of distance per pixel, from how the floor point moves with the pixel.
                if far > 1e-9:
                    nx, nz = dx / far, dz / far
                else:
                    nx, nz = 0.0, 1.0
                gx = (nx * (xx - px * wx) + nz * (zx - pz * wx)) / w
                gy = (nx * (xy - px * wy) + nz * (zy - pz * wy)) / w
                step = np.sqrt(gx * gx + gy * gy) + 1e-12
                if ring > 0.0:
                    far = abs(far - radius + ring)
                    half = ring
                else:
                    half = radius
                # Never thinner than a pixel: a thin line is drawn a pixel wide and fainter instead.
                drawn = max(half, 0.5 * step)
                value = min(1.0, max(0.0, (drawn - far) / step + 0.5)) * (half / drawn) * opacity
                if value > cover[y, x]:
                    cover[y, x] = value


@_kernel
def lay_over(layer: F32, cover: F32, colour: F32) -> None:
    """See `reference.lay_over`."""
    for y in range(cover.shape[0]):
        for x in range(cover.shape[1]):
            alpha = cover[y, x]
            if alpha > ZERO:
                for k in range(3):
                    layer[y, x, k] += alpha * (colour[k] - layer[y, x, k])
                layer[y, x, 3] += alpha * (ONE - layer[y, x, 3])


@_kernel
def _line(distance: Any, step: Any, per_step: Any, half: Any, spacing: Any) -> Any:
    """Coverage of a pixel by lines of half width `half` in a grid; see `reference.shade_floor`."""
    drawn = max(half, ONE_HALF * step)
    thinned = min(ONE, TWO * half * per_step)
    line = min(ONE, max(ZERO, (drawn - distance) * per_step + ONE_HALF)) * thinned
    fade = min(ONE, max(ZERO, step * (FIVE / spacing) - ONE_HALF))
    return line + (TWO * half / spacing - line) * fade


@_kernel
def _texel(texture: F32, place: F64, x: Any, z: Any) -> Any:
    """A texture laid on the floor, between its texels; 1 beyond its rim."""
    u, v = (x - place[1]) * place[0] - 0.5, (z - place[2]) * place[0] - 0.5
    if not (u >= 0.0 and v >= 0.0 and u < texture.shape[1] - 1 and v < texture.shape[0] - 1):
        return ONE
    c, r = int(u), int(v)
    fu, fv = np.float32(u - c), np.float32(v - r)
    upper = texture[r, c] + (texture[r, c + 1] - texture[r, c]) * fu
    lower = texture[r + 1, c] + (texture[r + 1, c + 1] - texture[r + 1, c]) * fu
    return upper + (lower - upper) * fv


@_kernel
def shade_floor(
    homography: F64, colours: F32, numbers: F64, key: F32, fill: F32, place: F64, paint: F32, image: F32
) -> None:
    """See `reference.shade_floor`."""
    height, width = image.shape[0], image.shape[1]
    plane = homography.astype(np.float32)
    xx, xy, zx, zy, wx, wy = plane[0, 0], plane[0, 1], plane[1, 0], plane[1, 1], plane[2, 0], plane[2, 1]
    few = numbers.astype(np.float32)
    eye_height, fog, centre_x, centre_z, pool, share = few[0], few[1], few[2], few[3], few[4], few[5]
    painted = paint.shape[0] > 0
    row = np.empty((6, width), np.float32)  # floor x and z, fog, light, thin and bold lines
    for y in range(height):
        # Rows are done in passes without branches, which the compiler turns into vector instructions.
        down = y + 0.5
        x0 = np.float32(homography[0, 1] * down + homography[0, 2] + 0.5 * homography[0, 0])
        z0 = np.float32(homography[1, 1] * down + homography[1, 2] + 0.5 * homography[1, 0])
        w0 = np.float32(homography[2, 1] * down + homography[2, 2] + 0.5 * homography[2, 0])
        if max(w0, w0 + wx * np.float32(width)) <= TINY:  # all of the row is sky
            for x in range(width):
                for k in range(3):
                    image[y, x, k] = colours[0, k]
            continue
        for x in range(width):
            right = np.float32(x)
            w = w0 + wx * right
            i = ONE / max(w, TINY)
            px, pz = (x0 + xx * right) * i, (z0 + zx * right) * i
            dx, dz = px - centre_x, pz - centre_z
            away = eye_height * i * fog
            away *= away
            row[0, x], row[1, x] = px, pz
            row[2, x] = ONE / (ONE + away * away) if w > TINY else ZERO
            row[3, x] = ONE / (ONE + (dx * dx + dz * dz) * pool)
            ax, bx, az, bz = xx - px * wx, xy - px * wy, zx - pz * wx, zy - pz * wy
            step_x, step_z = np.sqrt(ax * ax + bx * bx) * i, np.sqrt(az * az + bz * bz) * i
            per_x, per_z = ONE / step_x, ONE / step_z
            near_x, near_z = abs(px - np.floor(px + ONE_HALF)), abs(pz - np.floor(pz + ONE_HALF))
            five_x = abs(px - FIVE * np.floor(px * FIFTH + ONE_HALF))
            five_z = abs(pz - FIVE * np.floor(pz * FIFTH + ONE_HALF))
            thin = max(_line(near_x, step_x, per_x, THIN, ONE), _line(near_z, step_z, per_z, THIN, ONE))
            bold = max(_line(five_x, step_x, per_x, BOLD, FIVE), _line(five_z, step_z, per_z, BOLD, FIVE))
            row[4, x], row[5, x] = thin * (ONE - bold), bold
        for x in range(width):
            clear = row[2, x]
            if clear < FAINT:
                for k in range(3):
                    image[y, x, k] = colours[0, k]
                continue
            px, pz, thin, bold = row[0, x], row[1, x], row[4, x], row[5, x]
            seen = clear * row[3, x]
            lit = share * _texel(key, place[0], px, pz) + (ONE - share) * _texel(fill, place[1], px, pz)
            for k in range(3):
                base = colours[1, k] + thin * (colours[2, k] - colours[1, k]) + bold * (colours[3, k] - colours[1, k])
                image[y, x, k] = colours[0, k] + (base * lit - colours[0, k]) * seen
            if painted and paint[y, x, 3] > ZERO:
                # Paint keeps half of its colour in shadow, so that a path stays one line.
                lay, hide = clear * (ONE_HALF + ONE_HALF * lit), paint[y, x, 3] * clear
                for k in range(3):
                    image[y, x, k] += paint[y, x, k] * lay - image[y, x, k] * hide


@_kernel
def _tone(x: float) -> float:
    """Filmic curve: the rational fit to the ACES reference rendering given by Narkowicz (2015)."""
    return (x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14)


@_kernel
def _visible(shadow: F32, u: float, v: float, near: float) -> float:
    """Share of a 3 x 3 neighbourhood, tent weighted at its rim, from which the light is seen."""
    rows, columns = shadow.shape
    c, r = int(np.floor(u)), int(np.floor(v))
    if c < 1 or r < 1 or c >= columns - 3 or r >= rows - 3:
        return 1.0
    fu, fv = u - c, v - r
    total = 0.0
    for j in range(4):
        weight_v = (1.0 - fv) if j == 0 else (fv if j == 3 else 1.0)
        for i in range(4):
            if shadow[r - 1 + j, c - 1 + i] <= near:
                total += weight_v * ((1.0 - fu) if i == 0 else (fu if i == 3 else 1.0))
    return total / 9.0


@_kernel
def shade_figures(
    screen: F64, triangles: I32, normals: F32, colours: F32, depth: F32, owner: I32, origin: I32, samples: int,
    view: F64, light: F64, shadow: F32, light_view: F64, hemisphere: F64, numbers: F64, background: F32, image: F32,
) -> None:  # fmt: skip
    """See `reference.shade_figures`."""
    rows, columns = owner.shape[0] // samples, owner.shape[1] // samples
    share = 1.0 / (samples * samples)
    middle = (samples // 2) * (samples + 1)
    exposure, rim, fog, inset = numbers[0], numbers[1], numbers[2], numbers[3]
    focal, centre_x, centre_y = view[4, 0], view[4, 1], view[4, 2]
    for y in range(rows):
        for x in range(columns):
            hits, least, most = 0, np.float32(1e30), ZERO
            for sy in range(y * samples, (y + 1) * samples):
                for sx in range(x * samples, (x + 1) * samples):
                    if owner[sy, sx] >= 0:
                        hits += 1
                        least, most = min(least, depth[sy, sx]), max(most, depth[sy, sx])
            if hits == 0:
                continue
            covered = hits * share
            # Within one smooth surface the samples of a pixel differ by little: one, near its middle, stands for all.
            smooth = hits == samples * samples and most - least < SMOOTH * most
            if smooth:
                a = triangles[owner[y * samples, x * samples], 0]
                for corner in range(1, 4):
                    sy = y * samples + (samples - 1) * (corner // 2)
                    b = triangles[owner[sy, x * samples + (samples - 1) * (corner % 2)], 0]
                    alike = (
                        normals[a, 0] * normals[b, 0] + normals[a, 1] * normals[b, 1] + normals[a, 2] * normals[b, 2]
                    )
                    smooth = smooth and alike > ALIKE
            red, green, blue = 0.0, 0.0, 0.0
            for sub in range(samples * samples):
                if smooth and sub != middle:
                    continue
                sy, sx = y * samples + sub // samples, x * samples + sub % samples
                t = owner[sy, sx]
                if t < 0:
                    continue
                weight = covered if smooth else share
                a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
                ax, ay = screen[a, 0], screen[a, 1]
                bx, by, cx, cy = screen[b, 0] - ax, screen[b, 1] - ay, screen[c, 0] - ax, screen[c, 1] - ay
                area = cx * by - bx * cy
                qx, qy = sx + 0.5 - ax, sy + 0.5 - ay
                wb = (qy * cx - qx * cy) / area
                wc = (qx * by - qy * bx) / area
                # Perspective-correct shares: screen shares weighted by inverse depth.
                wa = (1.0 - wb - wc) * screen[a, 2]
                wb *= screen[b, 2]
                wc *= screen[c, 2]
                near = wa + wb + wc
                i = 1.0 / near
                wa, wb, wc = wa * i, wb * i, wc * i
                nx = wa * normals[a, 0] + wb * normals[b, 0] + wc * normals[c, 0]
                ny = wa * normals[a, 1] + wb * normals[b, 1] + wc * normals[c, 1]
                nz = wa * normals[a, 2] + wb * normals[b, 2] + wc * normals[c, 2]
                length = 1.0 / np.sqrt(nx * nx + ny * ny + nz * nz + 1e-12)
                nx, ny, nz = nx * length, ny * length, nz * length
                # Ray through the sample; its point at this depth, and the way back to the eye.
                ox = ((origin[0] + (sx + 0.5) / samples) - centre_x) / focal
                oy = ((origin[1] + (sy + 0.5) / samples) - centre_y) / focal
                rx = view[3, 0] + ox * view[1, 0] - oy * view[2, 0]
                ry = view[3, 1] + ox * view[1, 1] - oy * view[2, 1]
                rz = view[3, 2] + ox * view[1, 2] - oy * view[2, 2]
                px, py, pz = view[0, 0] + rx * i, view[0, 1] + ry * i, view[0, 2] + rz * i
                ray = 1.0 / np.sqrt(rx * rx + ry * ry + rz * rz)
                ex, ey, ez = -rx * ray, -ry * ray, -rz * ray
                direct = nx * light[0, 0] + ny * light[0, 1] + nz * light[0, 2]
                facing = max(0.0, nx * ex + ny * ey + nz * ez)
                seen, gloss = 0.0, 0.0
                if direct > 0.0:
                    mx, my, mz = px + inset * nx, py + inset * ny, pz + inset * nz
                    u = mx * light_view[0, 0] + my * light_view[0, 1] + mz * light_view[0, 2] + light_view[0, 3]
                    v = mx * light_view[1, 0] + my * light_view[1, 1] + mz * light_view[1, 2] + light_view[1, 3]
                    d = mx * light_view[2, 0] + my * light_view[2, 1] + mz * light_view[2, 2] + light_view[2, 3]
                    seen = direct * _visible(shadow, u - 0.5, v - 0.5, d)
                    hx, hy, hz = light[0, 0] + ex, light[0, 1] + ey, light[0, 2] + ez
                    half = (nx * hx + ny * hy + nz * hz) / np.sqrt(hx * hx + hy * hy + hz * hz + 1e-12)
                    half = max(0.0, half)
                    half *= half
                    half *= half
                    half *= half
                    half *= half  # to the 16th
                    gloss = 0.10 * half * seen
                # Less of the sky is seen close to the floor, and from below.
                up = 0.5 + 0.5 * ny
                open_sky = 0.75 + 0.25 * min(1.0, max(0.0, py * 1.4))
                graze = 1.0 - facing
                edge = rim * graze * graze * graze * (0.35 + 0.65 * up)
                clear = 1.0 / (1.0 + (fog * i) ** 4)
                for k in range(3):
                    albedo = wa * colours[a, k] + wb * colours[b, k] + wc * colours[c, k]
                    fill = (hemisphere[0, k] * up + hemisphere[1, k] * (1.0 - up)) * open_sky
                    value = albedo * (light[1, k] * seen + fill) + light[1, k] * gloss + edge * hemisphere[0, k]
                    value = background[k] + (min(1.0, _tone(exposure * value)) - background[k]) * clear
                    if k == 0:
                        red += value * weight
                    elif k == 1:
                        green += value * weight
                    else:
                        blue += value * weight
            row, column = origin[1] + y, origin[0] + x
            image[row, column, 0] = image[row, column, 0] * (1.0 - covered) + red
            image[row, column, 1] = image[row, column, 1] * (1.0 - covered) + green
            image[row, column, 2] = image[row, column, 2] * (1.0 - covered) + blue


@_kernel
def encode(image: F32, table: F32, noise: F32, out: Bytes) -> None:
    """See `reference.encode`."""
    height, width = image.shape[0], image.shape[1]
    last = np.float32(table.shape[0] - 1)
    rows, columns = noise.shape
    for y in range(height):
        row, column = y % rows, 0
        for x in range(width):
            nudge = noise[row, column]
            column += 1
            if column == columns:  # cheaper than a division for every pixel
                column = 0
            for k in range(3):
                value = min(ONE, max(ZERO, image[y, x, k]))
                out[y, x, k] = np.uint8(table[int(np.sqrt(value) * last + ONE_HALF)] + nudge)
