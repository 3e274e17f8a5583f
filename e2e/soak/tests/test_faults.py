"""Which faults come when: from the seed alone."""

from soak.faults import ALLOWED, GUESTS, Fault, Kind, Plan, Shape, plans


def test_the_same_seed_gives_the_same_runs_and_another_gives_others():
    assert list(plans(1, 40, list(Kind))) == list(plans(1, 40, list(Kind)))
    assert list(plans(1, 40, list(Kind))) != list(plans(2, 40, list(Kind)))


def test_there_are_as_many_faults_as_asked_for_and_every_kind_comes_in_its_turn():
    found = [fault.kind for plan in plans(3, 2 * len(Kind), list(Kind)) for fault in plan.faults]
    assert sorted(found) == sorted([*Kind, *Kind])


def test_a_run_has_what_its_faults_break():
    for plan in plans(5, 200, list(Kind)):
        kinds = {fault.kind for fault in plan.faults}
        if kinds & GUESTS:
            assert plan.shape is Shape.GUEST
        elif Kind.DISK_FULL in kinds:
            assert plan.shape is Shape.MEMORY
        instants = [fault.instant for fault in plan.faults]
        assert instants == sorted(instants)
        assert all(0 < instant < 1 for instant in instants)


def test_only_the_kinds_that_were_asked_for():
    found = {fault.kind for plan in plans(1, 10, [Kind.ETCD]) for fault in plan.faults}
    assert found == {Kind.ETCD}


def test_a_run_has_as_many_faults_as_it_may_have_and_no_more():
    for most in (1, 2, 8):
        counts = [len(plan.faults) for plan in plans(1, 200, [Kind.OPERATOR], most)]
        assert sum(counts) == 200
        assert max(counts) == most


def test_of_every_kind_it_is_known_how_a_run_may_fail():
    assert set(ALLOWED) == set(Kind)
    assert Plan(Shape.PODS, (Fault(Kind.OPERATOR, 0.5),)).allowed == frozenset()
    both = (Fault(Kind.OPERATOR, 0.5), Fault(Kind.IMAGE, 0.6))
    assert "ImagePullFailed" in Plan(Shape.PODS, both).allowed
