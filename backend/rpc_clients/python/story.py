"""The whole enable-the-cache story with the official Python client, unmodified. Every step asserts what it sees."""

import json
import os
import time
from datetime import UTC, datetime, timedelta

from alibabacloud_credentials.client import Client as Credential
from alibabacloud_credentials.models import Config as CredentialConfig
from alibabacloud_rds20140815 import models as rds
from alibabacloud_rds20140815.client import Client
from alibabacloud_tea_openapi.exceptions import ClientException
from alibabacloud_tea_openapi.models import Config

ENDPOINT, INSTANCE = os.environ["FQC_RPC_ENDPOINT"], os.environ["FQC_RPC_INSTANCE"]
KEY = {
    "access_key_id": os.environ["ALIBABA_CLOUD_ACCESS_KEY_ID"],
    "access_key_secret": os.environ["ALIBABA_CLOUD_ACCESS_KEY_SECRET"],
}
GROUP = f"python.{INSTANCE.removeprefix('rm-')}"
POOL = "{DBInstanceClassMemory*63/100}"
CACHE = {
    "innodb_buffer_pool_size": POOL,
    "query_cache_size": "{DBInstanceClassMemory*7/100/1024*1024}",
    "query_cache_type": "1",
}
GIBIBYTE = 1024**3
WAIT_SECONDS = 180


def client(**how: object) -> Client:
    return Client(Config(endpoint=ENDPOINT, protocol="http", read_timeout=60_000, **(how or KEY)))


def step(words: str) -> None:
    print(f"python: {words}", flush=True)


def code_of(call: object, request: object) -> str:
    """Returns the error code of a call that must be refused."""
    try:
        call(request)
    except ClientException as error:
        assert 400 <= error.status_code < 500, error
        return str(error.code)
    raise AssertionError(f"{request} was not refused")


def await_that(what: str, is_met: object) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not is_met():
        assert time.monotonic() < deadline, f"did not happen: {what}"
        time.sleep(0.2)


class Story:
    def __init__(self) -> None:
        self.api = client()

    def attribute(self) -> object:
        found = self.api.describe_dbinstance_attribute(rds.DescribeDBInstanceAttributeRequest(dbinstance_id=INSTANCE))
        return found.body.items.dbinstance_attribute[0]

    def await_running(self) -> None:
        await_that(f"{INSTANCE} is Running", lambda: self.attribute().dbinstance_status == "Running")

    def parameters(self) -> object:
        return self.api.describe_parameters(rds.DescribeParametersRequest(dbinstance_id=INSTANCE)).body

    def running(self, name: str) -> str:
        rows = self.parameters().running_parameters.dbinstance_parameter
        return next(row.parameter_value for row in rows if row.parameter_name == name)

    def modify(self, **facts: object) -> None:
        self.api.modify_parameter(rds.ModifyParameterRequest(dbinstance_id=INSTANCE, **facts))
        self.await_running()

    def proxy(self, service: str) -> None:
        self.api.modify_dbproxy(rds.ModifyDBProxyRequest(dbinstance_id=INSTANCE, config_dbproxy_service=service))
        self.await_running()
        found = self.api.describe_dbproxy(rds.DescribeDBProxyRequest(dbinstance_id=INSTANCE)).body
        assert found.dbproxy_service_status == service, found

    def refused(self) -> str:
        on = json.dumps({"query_cache_size": "8388608", "query_cache_type": "1"})
        return code_of(self.api.modify_parameter, rds.ModifyParameterRequest(dbinstance_id=INSTANCE, parameters=on))

    def find(self) -> None:
        step("finds the instance")
        asked = rds.DescribeDBInstancesRequest(search_key=INSTANCE, engine="MySQL", page_size=100)
        listed = self.api.describe_dbinstances(asked)
        assert [each.dbinstance_id for each in listed.body.items.dbinstance] == [INSTANCE]
        unknown = rds.DescribeParametersRequest(dbinstance_id="rm-none é+~")
        assert code_of(self.api.describe_parameters, unknown) == "InvalidDBInstanceId.NotFound"

    def mend(self) -> None:
        step("is refused until minor version and proxy allow the cache")
        self.proxy("Startup")
        assert self.attribute().current_kernel_version == ""
        assert self.refused() == "OperationDenied.MinorVersion"
        asked = rds.UpgradeDBInstanceKernelVersionRequest(
            dbinstance_id=INSTANCE, upgrade_time="Immediate", target_minor_version="rds_20200331"
        )
        done = self.api.upgrade_dbinstance_kernel_version(asked).body
        assert done.task_id.isdigit(), done
        self.await_running()
        assert self.attribute().current_kernel_version == done.target_minor_version >= "rds_20200331"
        # An engine that has just been loaded may have to examine its server first.
        await_that("the proxy alone is in the way", lambda: self.refused() == "OperationDenied.DedicatedProxy")
        self.proxy("Shutdown")

    def make_group(self) -> str:
        step("makes, changes, copies and deletes groups")
        facts = {"engine": "mysql", "engine_version": "5.7", "region_id": "local"}
        made = self.api.create_parameter_group(
            rds.CreateParameterGroupRequest(
                **facts, parameter_group_name=GROUP, parameters=json.dumps({"query_cache_type": "1"})
            )
        ).body.parameter_group_id
        this = {"region_id": "local", "parameter_group_id": made}
        changed = rds.ModifyParameterGroupRequest(
            **this, modify_mode="Collectivity", parameters=json.dumps(CACHE), parameter_group_desc="the fast cache"
        )
        assert self.api.modify_parameter_group(changed).body.parameter_group_id == made
        self.api.clone_parameter_group(
            rds.CloneParameterGroupRequest(**this, target_region_id="local", parameter_group_name=f"{GROUP}_2")
        )
        groups = self.api.describe_parameter_groups(rds.DescribeParameterGroupsRequest(region_id="local"))
        named = {each.parameter_group_name: each for each in groups.body.parameter_groups.parameter_group}
        assert named[GROUP].parameter_group_desc == named[f"{GROUP}_2"].parameter_group_desc
        copy = {"region_id": "local", "parameter_group_id": named[f"{GROUP}_2"].parameter_group_id}
        self.api.delete_parameter_group(rds.DeleteParameterGroupRequest(**copy))
        gone = rds.DescribeParameterGroupRequest(**copy)
        assert code_of(self.api.describe_parameter_group, gone) == "ParamGroupsNotExistError"
        return made

    def apply_group(self, group: str) -> None:
        step("applies the group and reads it back")
        self.modify(parameter_group_id=group)
        found = self.parameters()
        configured = found.config_parameters.dbinstance_parameter
        assert CACHE.items() <= {each.parameter_name: each.parameter_value for each in configured}.items()
        assert found.param_group_info.param_group_id == group
        memory = self.attribute().dbinstance_memory * 1024**2
        assert self.running("innodb_buffer_pool_size") == str(memory * 63 // 100)
        assert self.running("query_cache_size") == str(memory * 7 // 100 // 1024 * 1024)
        shown = self.api.describe_parameter_group(
            rds.DescribeParameterGroupRequest(region_id="local", parameter_group_id=group)
        ).body
        details = shown.param_group.parameter_group[0].param_detail.parameter_detail
        assert {each.param_name: each.param_value for each in details} == CACHE
        used_by = shown.related_custins_info.related_custins_info
        assert [each.dbinstance_name for each in used_by] == [INSTANCE]

    def restart(self) -> None:
        step("restarts with consent only")
        facts = {"dbinstance_id": INSTANCE, "parameters": json.dumps({"back_log": "91"})}
        silent = rds.ModifyParameterRequest(**facts)
        assert code_of(self.api.modify_parameter, silent) == "OperationDenied.ForceRestartRequired"
        self.modify(parameters=facts["parameters"], forcerestart=True, client_token=f"restart-{GROUP}")
        assert self.running("back_log") == "91"
        self.api.restart_dbinstance(rds.RestartDBInstanceRequest(dbinstance_id=INSTANCE))
        self.await_running()

    def wait_for_a_time(self) -> None:
        step("plans a change, moves it and gives it up")
        later = {"switch_time_mode": "ScheduleTime", "switch_time": "2998-01-01T00:00:00Z"}
        self.modify(parameters=json.dumps({"long_query_time": "7"}), **later)
        asked = rds.DescribeParameterTimedScheduleTaskRequest(db_instance_name=INSTANCE)
        listed = self.api.describe_parameter_timed_schedule_task
        (task,) = listed(asked).body.task_list
        this = {"dbinstance_name": INSTANCE, "task_id": int(task.task_id)}
        moved = rds.ModifyParameterTimedScheduleTaskRequest(**this, switch_time="2999-01-01T00:00:00Z")
        self.api.modify_parameter_timed_schedule_task(moved)
        assert [(each.status, each.switch_time) for each in listed(asked).body.task_list] == [
            ("PENDING", "2999-01-01T00:00:00Z")
        ]
        self.api.delete_parameter_timed_schedule_task(rds.DeleteParameterTimedScheduleTaskRequest(**this))
        assert not listed(asked).body.task_list

    def grow(self) -> None:
        step("moves to a bigger class, and the cache follows")
        bigger = rds.ModifyDBInstanceSpecRequest(
            dbinstance_id=INSTANCE, dbinstance_class="local.medium", pay_type="Postpaid"
        )
        assert self.api.modify_dbinstance_spec(bigger).body.order_id > 0
        self.await_running()
        assert self.running("query_cache_size") == str(GIBIBYTE * 7 // 100 // 1024 * 1024)

    def look_back(self) -> None:
        step("reads catalogue, log and performance")
        asked = rds.DescribeParameterTemplatesRequest(engine="mysql", engine_version="5.7")
        templates = self.api.describe_parameter_templates(asked).body.parameters.template_record
        assert next(each.force_restart for each in templates if each.parameter_name == "back_log") == "true"
        now = datetime.now(UTC)
        span = {"start_time": f"{now - timedelta(hours=1):%Y-%m-%dT%H:%MZ}", "end_time": f"{now:%Y-%m-%dT%H:%MZ}"}
        log = self.api.describe_modify_parameter_log(
            rds.DescribeModifyParameterLogRequest(dbinstance_id=INSTANCE, **span, page_size=100)
        ).body
        entries = [
            (each.parameter_name, each.new_parameter_value, each.status) for each in log.items.parameter_change_log
        ]
        assert ("innodb_buffer_pool_size", POOL, "Applied") in entries
        await_that("a sample of the cache is there", lambda: self.sampled(now))

    def sampled(self, since: datetime) -> bool:
        until = datetime.now(UTC) + timedelta(minutes=1)
        asked = rds.DescribeDBInstancePerformanceRequest(
            dbinstance_id=INSTANCE,
            key="MySQL_QueryCacheMemory,MySQL_QueryCacheRequests",
            start_time=f"{since:%Y-%m-%dT%H:%MZ}",
            end_time=f"{until:%Y-%m-%dT%H:%MZ}",
        )
        memory, requests = self.api.describe_dbinstance_performance(asked).body.performance_keys.performance_key
        assert (memory.value_format, requests.value_format) == ("size&free", "hits&inserts&not_cached")
        return any(each.value.startswith("75161600.00&") for each in memory.values.performance_value)

    def sign_otherwise(self) -> None:
        step("signs in the older way, and with a token")
        token = os.environ["FQC_TOKEN"]
        bearer = Credential(CredentialConfig(type="bearer", bearer_token=token))
        ways = [{**KEY, "signature_algorithm": "v2"}, {"credential": bearer}]
        ways.append({"bearer_token": token, "signature_algorithm": "v2"})
        for way in ways:
            listed = client(**way).describe_parameter_groups(rds.DescribeParameterGroupsRequest(region_id="local"))
            assert listed.body.parameter_groups.parameter_group
        wrong = client(access_key_id=KEY["access_key_id"], access_key_secret="wrong")
        asked = rds.DescribeDBInstancesRequest()
        assert code_of(wrong.describe_dbinstances, asked) == "SignatureDoesNotMatch"


def main() -> None:
    story = Story()
    story.find()
    story.mend()
    story.apply_group(story.make_group())
    story.restart()
    story.wait_for_a_time()
    story.grow()
    story.look_back()
    story.sign_otherwise()


if __name__ == "__main__":
    main()
