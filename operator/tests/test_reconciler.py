"""What the reconciler makes of the API server's refusals."""

from kubernetes_asyncio.client import ApiException

from dbbench.reconciler import namespace_is_ending


def refusal(status, body):
    error = ApiException(status=status, reason="Forbidden")
    error.body = body
    return error


def test_namespace_that_is_deleted_is_no_lack_of_rights():
    causes = '{"details":{"causes":[{"reason":"NamespaceTerminating"}]}}'
    assert namespace_is_ending(refusal(403, causes))
    assert not namespace_is_ending(refusal(403, '{"message":"cannot create resource"}'))
    assert not namespace_is_ending(refusal(409, causes))
    assert not namespace_is_ending(refusal(403, None))
