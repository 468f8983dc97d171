"""A performance as motion while it is being performed: finished frames come a fixed time after the control.

Each time a little more has been settled, the last seconds are finished anew (blended, feet cleaned, hands held) with
what the search expects to come, and frames are handed out up to the lag. Where that expectation changes later, what is
already shown stays and the rest is faded over.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats, seal
from choreograph.base.errors import RequestError
from choreograph.features.points import TRACK, find_points
from choreograph.finishing.bend import Course
from choreograph.finishing.finish import finish
from choreograph.finishing.hand_contacts import Partner
from choreograph.finishing.inertialisation import Inertialisation
from choreograph.motion.clip import Clip
from choreograph.motion.resample import sample_positions, sample_rotations
from choreograph.verbs.perform.bend_to_trajectory import lead_along
from choreograph.verbs.perform.control import check_roles
from choreograph.verbs.perform.examples import SegmentDatabase
from choreograph.verbs.perform.idle_segments import with_stand
from choreograph.verbs.perform.placing import Piece
from choreograph.verbs.perform.request import PerformRequest
from choreograph.verbs.perform.settings import match_settings
from choreograph.verbs.perform.stream import PieceStream
from choreograph.verbs.perform.to_montage import ExampleHandContacts, montage_of_pieces
from choreograph.verbs.streaming import Frame, as_frames

LAG_S = 2.0
"""Seconds from a moment of the control to its frames, unless a request says otherwise."""
_CONTEXT_S = 1.5
"""Seconds of motion before the newest frame that are finished anew each time: a plant and the way to it."""
_AHEAD_S = 1.4
"""Seconds after it that are, as they are expected to come: a stride, or a stand would not be seen whole."""
_BATCH_S = 0.27
"""Seconds of motion that are settled, finished and handed out at once: two steps of the search."""


class PerformStream:
    """A performance in progress: `push` the control as it comes and show the frames that come back; then `finish`.

    A frame is handed out at the latest `lag_s` after its moment was pushed. Each push costs the same, however long the
    performance has been going on.
    """

    def __init__(self, database: SegmentDatabase, fps: float, request: PerformRequest | None = None) -> None:
        """Prepare a performance.

        Args:
            database: Recorded segments.
            fps: Control frames per second.
            request: How the control is matched with segments and how they become motion; its `lag_s`, 2 s if it has
                none, is the time from a moment of the control to its frames. Segments that last about as long are not
                used.

        Raises:
            RequestError: If the lag is too short for every segment; the message says what is enough.
        """
        request = request or PerformRequest()
        self.lag_s = LAG_S if request.lag_s is None else request.lag_s
        """Seconds from a moment of the control to its frames."""
        self.pieces: list[Piece] = []
        """The sequence so far."""
        self._finishing = request.finish
        self.rate_hz = self._finishing.rate_hz or database.fps
        """Frames per second that come back."""
        # A frame shows the next piece too if that begins within half a blend.
        margin = self._finishing.blend_s / 2 + _BATCH_S
        database = with_stand(database)
        settings = match_settings(database, request.with_quality().advanced, request.segment_goals)
        self._stream = PieceStream(database, fps, settings, lag_s=self.lag_s, margin_s=margin, every_s=_BATCH_S)
        self.database = self._stream.database
        """Without the segments that are too long for the lag."""
        self._hand_contacts = ExampleHandContacts(self.database)
        self._inertialisation = Inertialisation(feet=self._finishing.clean)
        self._shown = 0
        self._recent: list[Piece] = []
        self._track = np.zeros((0, *self.database.controls[0].shape[1:]))
        self._track_first = 0  # frame of the control that the track, as far as it is kept, begins at
        self._leader: Clip | None = None
        self._leader_first = 0  # frame of the control that the leader, as far as it is kept, begins at

    @property
    def cost(self) -> float:
        """Of the pieces so far, m²·s: to be held against `SegmentSequence.cost`."""
        return self._stream.cost

    @property
    def coarse_cost(self) -> float:
        """Of all of them at the search's rate, once finished: against `SegmentSequence.coarse_cost`."""
        return self._stream.coarse_cost

    def push(self, control: Floats | Clip) -> list[Frame]:
        """Take control frames as they come, and hand out the frames that are ready.

        Args:
            control: Points (n, P, 3), metres, NaN where nothing is known; or a stretch of the body that leads, whose
                hands can then be held.

        Raises:
            RequestError: If the control is not like the examples', or nothing has been known of it for too long.
        """
        if isinstance(control, Clip):
            self._take_leader(control)
            control = find_points(control, self.database.control_roles)
        self._settle(self._stream.push(control))
        self._take_track(np.asarray(control, float))
        count = int(np.floor((self._stream.settled_s - self.lag_s + _BATCH_S) * self.rate_hz + 1e-6)) + 1
        if count <= self._shown:
            return []
        stop = int(np.floor(self._stream.seen_s * self.rate_hz + 1e-6)) + 1
        stop = min(stop, count + round(_AHEAD_S * self.rate_hz))
        return self._hand_out(count, stop, (*self._recent, *self._stream.ahead()))

    def finish(self) -> list[Frame]:
        """The frames that are left, when the control is over."""
        self._settle(self._stream.finish())
        stop = int(np.floor(self._stream.seen_s * self.rate_hz + 1e-6)) + 1
        return self._hand_out(stop, stop, tuple(self._recent))

    def as_clip(self, frames: Sequence[Frame], name: str = "performed") -> Clip:
        """Frames that were handed out, as a clip.

        Raises:
            RequestError: If there are none.
        """
        if not frames:
            raise RequestError("no frame has been handed out, so there is nothing to make a clip of")
        rot = quat.make_continuous(np.array([frame.local_rot for frame in frames]))
        root = seal(np.array([frame.root_pos for frame in frames]))
        contacts = np.array([frame.contacts for frame in frames])
        return Clip(
            self.database.examples[0].target.skeleton, self.rate_hz, root, seal(rot), name=name, contacts=contacts
        )

    def _settle(self, pieces: list[Piece]) -> None:
        self.pieces += pieces
        self._recent += pieces

    def _hand_out(self, count: int, stop: int, pieces: tuple[Piece, ...]) -> list[Frame]:
        """Finish the last seconds, up to the frame `stop`, and hand out those before the frame `count`."""
        if count <= self._shown:
            return []
        first = max(0, self._shown - round(_CONTEXT_S * self.rate_hz))
        times = np.arange(first, stop) / self.rate_hz
        montage = montage_of_pieces(self.database, pieces, times, self.rate_hz, self._finishing.blend_s)
        leader = self._leader_at(times)
        partner = None if leader is None else Partner(leader, self._hand_contacts)
        motion = finish(montage, self._finishing, partner=partner, course=self._course(first / self.rate_hz))
        begin, end = self._shown - first, count - first
        steady = self._inertialisation.take(self._shown, motion.clip[begin:], end - begin)
        number, self._shown = self._shown, count
        since = (count / self.rate_hz) - _CONTEXT_S - 1.0
        self._recent = [piece for piece in self._recent if piece.stop_s > since]
        return as_frames(steady, number, motion.origins, begin)

    # ------------------------------------------------------------------ the one who leads

    def _take_track(self, points: Floats) -> None:
        """Keep the last seconds of the track that leads."""
        if self.database.control_roles == TRACK:
            passed = int((self._shown / self.rate_hz - _CONTEXT_S - 1.0) * self._stream.fps) - self._track_first
            passed = min(max(passed, 0), len(self._track))
            self._track = np.concatenate([self._track[passed:], points])
            self._track_first += passed

    def _course(self, since_s: float) -> Course | None:
        """What bends the motion that begins at a time onto the track; None where a body leads."""
        if self.database.control_roles != TRACK:
            return None
        return lead_along(self._track, self._stream.fps, self._track_first / self._stream.fps - since_s)

    def _take_leader(self, clip: Clip) -> None:
        """Keep the last seconds of the body that leads."""
        if not np.isclose(clip.fps, self._stream.fps, rtol=1e-6):
            raise RequestError(f"the leader has {clip.fps:g} fps; the performance was begun with {self._stream.fps:g}")
        check_roles(clip, self.database)
        if self._leader is None:
            self._leader = clip
            return
        root = np.concatenate([self._leader.root_pos, clip.root_pos])
        rot = np.concatenate([self._leader.local_rot, clip.local_rot])
        passed = int((self._shown / self.rate_hz - _CONTEXT_S - 1.0) * clip.fps) - self._leader_first
        passed = min(max(passed, 0), len(root) - 1)
        self._leader = self._leader.with_frames(root[passed:], quat.make_continuous(rot[passed:]))
        self._leader_first += passed

    def _leader_at(self, times: Floats) -> Clip | None:
        """The leader in the frames of the given times."""
        if self._leader is None or not all(role != "track" for role in self.database.control_roles):
            return None
        at = np.clip(times * self._leader.fps - self._leader_first, 0, len(self._leader) - 1)
        root, rot = sample_positions(self._leader.root_pos, at), sample_rotations(self._leader.local_rot, at)
        return Clip(self._leader.skeleton, self.rate_hz, root, quat.make_continuous(rot), name=self._leader.name)
