import os

from alibabacloud_rds20140815 import models as rds
from alibabacloud_rds20140815.client import Client
from alibabacloud_tea_openapi.models import Config

client = Client(
    Config(
        access_key_id=os.environ["ALIBABA_CLOUD_ACCESS_KEY_ID"],
        access_key_secret=os.environ["ALIBABA_CLOUD_ACCESS_KEY_SECRET"],
        endpoint=os.environ["FQC_RPC_ENDPOINT"],  # host:port, without a path
        protocol="http",  # https behind a proxy with TLS
        read_timeout=60_000,  # a change first reads its server
    )
)
instance = os.environ["FQC_RPC_INSTANCE"]

client.modify_parameter(
    rds.ModifyParameterRequest(dbinstance_id=instance, parameters='{"query_cache_size": "{DBInstanceClassMemory/32}"}')
)
answer = client.describe_parameters(rds.DescribeParametersRequest(dbinstance_id=instance))
for parameter in answer.body.running_parameters.dbinstance_parameter:
    if parameter.parameter_name.startswith("query_cache"):
        print(parameter.parameter_name, parameter.parameter_value)
