"""The libraries that a Python user would pick for two convex bodies, called as such a user would.

From (4, 4) numpy poses to a Python value: their transforms are made inside every call, their shapes and requests
beforehand.  All get the vertices and triangles of our hull.  Whoever is not installed is left out.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from impinge.arrays import Floats
from impinge.convex.hull.convex_hull import ConvexHull

COAL, COAL_CACHED, FCL, MUJOCO = "coal", "coal, cached guess", "python-fcl", "mujoco"
PYBULLET, DRAKE, DISTANCE3D = "pybullet", "drake", "distance3d"

_FAR = 1e3
"""A distance that nothing in the scenes has."""


class ConvexQueries(Protocol):
    """Two convex bodies that are ready to be queried."""

    def collides(self, pose_a: Floats, pose_b: Floats) -> bool: ...

    def distance(self, pose_a: Floats, pose_b: Floats) -> float: ...


class CoalConvex:
    """coal (formerly hpp-fcl), its ``Convex`` with hill climbing; the nearest points stay in its result."""

    def __init__(self, a: ConvexHull, b: ConvexHull) -> None:
        self._coal: Any = import_module("coal")
        self._a, self._b = coal_convex(a), coal_convex(b)
        self._meeting = self._coal.CollisionRequest(self._coal.CollisionRequestFlag.NO_REQUEST, 1)
        self._closest = self._coal.DistanceRequest(True)
        self._closest.enable_signed_distance = False  # as ours: zero where the bodies meet, without a depth

    def _placed(self, pose: Floats) -> Any:
        return self._coal.Transform3s(pose[:3, :3], pose[:3, 3])

    def collides(self, pose_a: Floats, pose_b: Floats) -> bool:
        found = self._coal.CollisionResult()
        return bool(
            self._coal.collide(self._a, self._placed(pose_a), self._b, self._placed(pose_b), self._meeting, found)
        )

    def distance(self, pose_a: Floats, pose_b: Floats) -> float:
        found = self._coal.DistanceResult()
        here, there = self._placed(pose_a), self._placed(pose_b)
        return max(float(self._coal.distance(self._a, here, self._b, there, self._closest, found)), 0.0)


def coal_convex(hull: ConvexHull) -> Any:
    coal: Any = import_module("coal")
    points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for vertex in hull.mesh.vertices:
        points.append(vertex)
    for face in hull.mesh.faces.tolist():
        triangles.append(coal.Triangle(*face))
    return coal.Convex(points, triangles)


class CoalCached(CoalConvex):
    """coal with its cached guess: the direction and the vertices of the last answer begin the next search."""

    def __init__(self, a: ConvexHull, b: ConvexHull) -> None:
        super().__init__(a, b)
        self._meeting.gjk_initial_guess = self._coal.GJKInitialGuess.CachedGuess
        self._closest.gjk_initial_guess = self._coal.GJKInitialGuess.CachedGuess

    def collides(self, pose_a: Floats, pose_b: Floats) -> bool:
        found = self._coal.CollisionResult()
        here, there = self._placed(pose_a), self._placed(pose_b)
        meet = self._coal.collide(self._a, here, self._b, there, self._meeting, found)
        self._meeting.updateGuess(found)
        return bool(meet)

    def distance(self, pose_a: Floats, pose_b: Floats) -> float:
        found = self._coal.DistanceResult()
        here, there = self._placed(pose_a), self._placed(pose_b)
        value = self._coal.distance(self._a, here, self._b, there, self._closest, found)
        self._closest.updateGuess(found)
        return max(float(value), 0.0)


class FclConvex:
    """python-fcl, its ``Convex``."""

    def __init__(self, a: ConvexHull, b: ConvexHull) -> None:
        self._fcl: Any = import_module("fcl")
        self._a, self._b = (self._fcl.CollisionObject(fcl_convex(hull)) for hull in (a, b))
        self._meeting = self._fcl.CollisionRequest(num_max_contacts=1)
        self._closest = self._fcl.DistanceRequest(enable_nearest_points=True)

    def _place(self, pose_a: Floats, pose_b: Floats) -> None:
        self._a.setTransform(self._fcl.Transform(pose_a[:3, :3], pose_a[:3, 3]))
        self._b.setTransform(self._fcl.Transform(pose_b[:3, :3], pose_b[:3, 3]))

    def collides(self, pose_a: Floats, pose_b: Floats) -> bool:
        self._place(pose_a, pose_b)
        return bool(self._fcl.collide(self._a, self._b, self._meeting, self._fcl.CollisionResult()))

    def distance(self, pose_a: Floats, pose_b: Floats) -> float:
        self._place(pose_a, pose_b)
        return max(float(self._fcl.distance(self._a, self._b, self._closest, self._fcl.DistanceResult())), 0.0)


def fcl_convex(hull: ConvexHull) -> Any:
    fcl: Any = import_module("fcl")
    faces = hull.mesh.faces
    counted = np.column_stack([np.full(len(faces), 3), faces]).ravel()
    return fcl.Convex(hull.mesh.vertices, len(faces), counted)


class MujocoConvex:
    """mujoco's ``mj_geomDistance``; its meshes are in single precision.  The frames are written straight into its data.

    It has no yes or no for one pair: the sign of the distance, which it need not know above zero, is computed.
    """

    def __init__(self, a: ConvexHull, b: ConvexHull) -> None:
        mujoco: Any = import_module("mujoco")
        spec = mujoco.MjSpec()
        for name, hull in (("a", a), ("b", b)):
            spec.add_mesh(name=name, uservert=hull.vertices.ravel().tolist(), userface=hull.mesh.faces.ravel().tolist())
            spec.worldbody.add_body(mocap=True).add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name)
        self._model = spec.compile()
        self._data = mujoco.MjData(self._model)
        self._ask = mujoco.mj_geomDistance
        self._ends = np.zeros(6)
        self._frames = [self._frame(mujoco, geom) for geom in range(2)]

    def _frame(self, mujoco: Any, geom: int) -> tuple[Floats, Floats]:
        """Where the compiler has put a mesh in its body."""
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, self._model.geom_quat[geom])
        return turn.reshape(3, 3), self._model.geom_pos[geom].copy()

    def _signed(self, pose_a: Floats, pose_b: Floats, most: float) -> float:
        for geom, pose in enumerate((pose_a, pose_b)):
            turn, shift = self._frames[geom]
            rotation = pose[:3, :3]
            self._data.geom_xmat[geom] = (rotation @ turn).ravel()
            self._data.geom_xpos[geom] = rotation @ shift + pose[:3, 3]
        return float(self._ask(self._model, self._data, 0, 1, most, self._ends))

    def collides(self, pose_a: Floats, pose_b: Floats) -> bool:
        return self._signed(pose_a, pose_b, 0.0) < 0.0

    def distance(self, pose_a: Floats, pose_b: Floats) -> float:
        return max(self._signed(pose_a, pose_b, _FAR), 0.0)


class PybulletConvex:
    """pybullet's ``getClosestPoints``, with margins set to zero."""

    def __init__(self, a: ConvexHull, b: ConvexHull) -> None:
        self._bullet: Any = import_module("pybullet")
        self._client = self._bullet.connect(self._bullet.DIRECT)
        self._bodies = [self._body(hull) for hull in (a, b)]

    def _body(self, hull: ConvexHull) -> int:
        shape = self._bullet.createCollisionShape(
            self._bullet.GEOM_MESH, vertices=hull.vertices.tolist(), physicsClientId=self._client
        )
        if shape < 0:
            raise ImportError(f"pybullet takes no mesh of {len(hull.vertices)} vertices")
        body = int(self._bullet.createMultiBody(0.0, shape, physicsClientId=self._client))
        self._bullet.changeDynamics(body, -1, collisionMargin=0.0, physicsClientId=self._client)
        return body

    def _gap(self, pose_a: Floats, pose_b: Floats, most: float) -> float:
        for body, pose in zip(self._bodies, (pose_a, pose_b), strict=True):
            self._bullet.resetBasePositionAndOrientation(
                body, pose[:3, 3].tolist(), quaternion(pose), physicsClientId=self._client
            )
        found = self._bullet.getClosestPoints(*self._bodies, most, physicsClientId=self._client)
        return min((float(point[8]) for point in found), default=math.inf)

    def collides(self, pose_a: Floats, pose_b: Floats) -> bool:
        return self._gap(pose_a, pose_b, 0.0) <= 0.0

    def distance(self, pose_a: Floats, pose_b: Floats) -> float:
        return max(self._gap(pose_a, pose_b, _FAR), 0.0)


def quaternion(pose: Floats) -> list[float]:
    """(x, y, z, w) of the rotation of a pose; the largest of the four is found first, the others by division."""
    m = pose[:3, :3].tolist()
    trace = m[0][0] + m[1][1] + m[2][2]
    if trace > 0.0:
        s = 2.0 * math.sqrt(1.0 + trace)
        return [(m[2][1] - m[1][2]) / s, (m[0][2] - m[2][0]) / s, (m[1][0] - m[0][1]) / s, 0.25 * s]
    i = max(range(3), key=lambda axis: m[axis][axis])
    j, k = (i + 1) % 3, (i + 2) % 3
    s = 2.0 * math.sqrt(max(0.0, 1.0 + m[i][i] - m[j][j] - m[k][k]))
    found = [0.0, 0.0, 0.0, (m[k][j] - m[j][k]) / s]
    found[i], found[j], found[k] = 0.25 * s, (m[j][i] + m[i][j]) / s, (m[k][i] + m[i][k]) / s
    return found


class Distance3dConvex:
    """distance3d, compiled by Numba as ours: its ``MeshGraph``, which climbs hills, with the Jolt version of GJK."""

    def __init__(self, a: ConvexHull, b: ConvexHull) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Numba's advice to its authors
            colliders: Any = import_module("distance3d.colliders")
        self._gjk: Any = import_module("distance3d.gjk")
        self._bodies = [
            # Copies, because its kernels take no read-only arrays.
            colliders.MeshGraph(np.eye(4), hull.mesh.vertices.copy(), hull.mesh.faces.astype(np.int64))
            for hull in (a, b)
        ]

    def _place(self, pose_a: Floats, pose_b: Floats) -> None:
        for body, pose in zip(self._bodies, (pose_a, pose_b), strict=True):
            body.update_pose(pose)

    def collides(self, pose_a: Floats, pose_b: Floats) -> bool:
        self._place(pose_a, pose_b)
        return bool(self._gjk.gjk_intersection_jolt(*self._bodies))

    def distance(self, pose_a: Floats, pose_b: Floats) -> float:
        self._place(pose_a, pose_b)
        return float(self._gjk.gjk_distance_jolt(*self._bodies)[0])


class DrakeConvex:
    """drake's SceneGraph: signed distance of one pair of ``Convex`` shapes; yes or no is its sign."""

    def __init__(self, a: ConvexHull, b: ConvexHull) -> None:
        geometry: Any = import_module("pydrake.geometry")
        math_: Any = import_module("pydrake.math")
        framework: Any = import_module("pydrake.systems.framework")
        value: Any = import_module("pydrake.common.value")
        self._transform = math_.RigidTransform
        self._graph = geometry.SceneGraph()
        self._source = self._graph.RegisterSource("bodies")
        self._frames, self._geometries = [], []
        for name, hull in (("a", a), ("b", b)):
            frame = self._graph.RegisterFrame(self._source, geometry.GeometryFrame(name))
            shape = geometry.Convex(points=hull.vertices.T, label=name)
            placed = geometry.GeometryInstance(self._transform(), shape, name)
            placed.set_proximity_properties(geometry.ProximityProperties())
            self._frames.append(frame)
            self._geometries.append(self._graph.RegisterGeometry(self._source, frame, placed))
        self._poses = geometry.FramePoseVector()
        self._as_value = value.Value[geometry.FramePoseVector]
        self._context = self._graph.CreateDefaultContext()
        self._port = self._graph.get_source_pose_port(self._source)
        self._framework = framework

    def distance(self, pose_a: Floats, pose_b: Floats) -> float:
        return max(self._signed(pose_a, pose_b), 0.0)

    def collides(self, pose_a: Floats, pose_b: Floats) -> bool:
        return self._signed(pose_a, pose_b) <= 0.0

    def _signed(self, pose_a: Floats, pose_b: Floats) -> float:
        for frame, pose in zip(self._frames, (pose_a, pose_b), strict=True):
            self._poses.set_value(frame, self._transform(pose))
        self._port.FixValue(self._context, self._as_value(self._poses))
        query = self._graph.get_query_output_port().Eval(self._context)
        return float(query.ComputeSignedDistancePairClosestPoints(*self._geometries).distance)


PEERS: dict[str, Callable[[ConvexHull, ConvexHull], ConvexQueries]] = {
    COAL: CoalConvex,
    COAL_CACHED: CoalCached,
    FCL: FclConvex,
    MUJOCO: MujocoConvex,
    PYBULLET: PybulletConvex,
    DRAKE: DrakeConvex,
    DISTANCE3D: Distance3dConvex,
}


def ready(a: ConvexHull, b: ConvexHull) -> dict[str, ConvexQueries]:
    """Those that are installed, with both bodies."""
    found = {}
    for name, make in PEERS.items():
        try:
            found[name] = make(a, b)
        except ImportError:
            continue
    return found
