from conftest import Fqc, eventually


def test_a_line_is_listed_with_its_source_and_read_anew_once_forgotten(fqc: Fqc) -> None:
    def lines() -> dict[str, dict[str, object]]:
        return {each["id"]: each for each in fqc("line", "list", "-o", "json").json}

    assert lines()["5.7"]["source"] == "shipped"
    [line] = [id for id, each in lines().items() if each["read_from"] and id.startswith("mariadb-")]
    before = lines()[line]
    assert "DELETE" in fqc("line", "forget", line, "--dry-run").err + fqc("line", "forget", line, "--dry-run").out
    assert fqc("line", "forget", line, "--yes").code == 0
    again = eventually(lambda: lines().get(line), lambda found: found is not None)
    assert again["read_at"] != before["read_at"] and again["parameter_count"] == before["parameter_count"]
    assert fqc("line", "forget", "5.7", "--yes").code != 0


def test_a_local_instance_is_always_a_source_of_definitions(fqc: Fqc, instance: str) -> None:
    assert fqc("line", "trust", instance, "-o", "json").json["is_catalogue_source"]
    refused = fqc("line", "distrust", instance)
    assert refused.code != 0 and "always a source" in refused.err
