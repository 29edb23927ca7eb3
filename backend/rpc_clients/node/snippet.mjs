import { $OpenApiUtil } from '@alicloud/openapi-core';
import rds from '@alicloud/rds20140815';

const client = new rds.default(
  new $OpenApiUtil.Config({
    accessKeyId: process.env.ALIBABA_CLOUD_ACCESS_KEY_ID,
    accessKeySecret: process.env.ALIBABA_CLOUD_ACCESS_KEY_SECRET,
    endpoint: process.env.FQC_RPC_ENDPOINT, // host:port, without a path
    protocol: 'http', // https behind a proxy with TLS
    readTimeout: 60_000, // a change first reads its server
    connectTimeout: 60_000, // this client applies it to the wait for an answer, too
  }),
);
const DBInstanceId = process.env.FQC_RPC_INSTANCE;

const parameters = JSON.stringify({ query_cache_size: '{DBInstanceClassMemory/32}' });
await client.modifyParameter(new rds.ModifyParameterRequest({ DBInstanceId, parameters }));
const { body } = await client.describeParameters(new rds.DescribeParametersRequest({ DBInstanceId }));
for (const { parameterName, parameterValue } of body.runningParameters.DBInstanceParameter) {
  if (parameterName.startsWith('query_cache')) console.log(parameterName, parameterValue);
}
