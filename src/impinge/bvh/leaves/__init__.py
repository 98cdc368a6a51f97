"""Leaf operations of the traversal: what is sought in two trees.

A leaf operation is a NamedTuple class with its versions of the two ``@generic`` functions of ``traverse``, which calls
them: ``candidates`` (how volumes are compared) and ``visit`` (what is done with triangles).

=====================  ===========================  ======================  ==========================================
leaf operation         its ``candidates``           its ``visit``           handed to ``traverse`` by
=====================  ===========================  ======================  ==========================================
FirstContact           ``_deepest_candidates``      ``_first_contact``      ``questions.collide_all``
AllContacts            ``_meeting_candidates``      ``_all_contacts``       ``questions.find_contacts``
Nearest                ``in_reach``                 ``_nearest``            ``questions.find_nearest``
Within                 ``in_reach``                 ``_within``             ``questions.find_closer``
Own                    ``in_reach``                 ``visit_pairs``         ``questions.visit_all``
=====================  ===========================  ======================  ==========================================

The first two are in ``leaves.contact_leaves``, the next two in ``leaves.distance_leaves``, the last in
``leaves.own_leaf`` (a function of the user's); one more is in ``pieces.pieces_kernels`` (hulls as volumes and
leaves).  What the versions here ask of a volume (``carried``, ``meeting_children``, ...) is generic too:
``volumes.protocol``.
"""
