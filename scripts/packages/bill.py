"""Lists what each package is made of, in the format CycloneDX 1.6."""

import json

from commands import committed_at

Part = dict[str, str]


def part(kind: str, name: str, version: str, licence: str | None) -> Part:
    known = {"licence": licence.replace("/", " OR ")} if licence else {}
    return {"name": name, "version": version, "purl": f"pkg:{kind}/{name}@{version}", **known}


def made_of(whole: Part, parts: list[Part]) -> bytes:
    components = [component(each, "library") for each in parts]
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"timestamp": committed_at("+%Y-%m-%dT%H:%M:%SZ"), "component": component(whole, "application")},
        "components": components,
        "dependencies": [{"ref": whole["purl"], "dependsOn": [each["bom-ref"] for each in components]}],
    }
    return (json.dumps(bill, indent=2) + "\n").encode()


def component(each: Part, kind: str) -> dict[str, object]:
    licences = {"licenses": [{"expression": each["licence"]}]} if "licence" in each else {}
    named = {"name": each["name"], "version": each["version"], "purl": each["purl"]}
    return {"type": kind, "bom-ref": each["purl"], **named, **licences}
