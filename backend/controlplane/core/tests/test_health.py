def test_a_ready_process_says_so(outsider):
    assert outsider.get("/readyz").json() == {"status": "ok", "database": "ok"}


def test_an_unknown_address_answers_with_a_problem(outsider):
    answer = outsider.get("/api/v1/nothing-here")
    assert answer.status_code == 404
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["request_id"] == answer.headers["X-Request-ID"]
