// The whole enable-the-cache story with the official Node client, unmodified. Every step asserts what it sees.

import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

import { $OpenApiUtil } from '@alicloud/openapi-core';
import rds from '@alicloud/rds20140815';

const { FQC_RPC_ENDPOINT: endpoint, FQC_RPC_INSTANCE: DBInstanceId } = process.env;
const accessKeyId = process.env.ALIBABA_CLOUD_ACCESS_KEY_ID;
const accessKeySecret = process.env.ALIBABA_CLOUD_ACCESS_KEY_SECRET;
const CACHE = {
  innodb_buffer_pool_size: '{DBInstanceClassMemory*63/100}',
  query_cache_size: '{DBInstanceClassMemory*7/100/1024*1024}',
  query_cache_type: '1',
};
const WAIT_MILLISECONDS = 180_000;
const here = { DBInstanceId };
const place = { regionId: 'local' };

// This client ends a request that nothing has been heard of for `connectTimeout`, also after it has connected.
const limits = { readTimeout: 60_000, connectTimeout: 60_000 };
const clientOf = (more) =>
  new rds.default(new $OpenApiUtil.Config({ endpoint, protocol: 'http', ...limits, ...more }));
const api = clientOf({ accessKeyId, accessKeySecret });
const step = (words) => console.log(`node: ${words}`);

/** Calls an action by its name, with its own request class. */
async function call(action, facts = {}) {
  const name = action[0].toLowerCase() + action.slice(1);
  const answer = await api[name](new rds[`${action}Request`](facts));
  return answer.body;
}

async function codeOf(action, facts) {
  try {
    await call(action, facts);
  } catch (error) {
    assert.ok(error.statusCode >= 400 && error.statusCode < 500, error);
    return error.code;
  }
  return assert.fail(`${action} was not refused`);
}

async function awaitThat(what, isMet) {
  const deadline = Date.now() + WAIT_MILLISECONDS;
  while (!(await isMet())) {
    assert.ok(Date.now() < deadline, `did not happen: ${what}`);
    await pause(200);
  }
}

async function attribute() {
  return (await call('DescribeDBInstanceAttribute', here)).items.DBInstanceAttribute[0];
}

const awaitRunning = () =>
  awaitThat(`${DBInstanceId} is Running`, async () => (await attribute()).DBInstanceStatus === 'Running');

async function running(name) {
  const { runningParameters } = await call('DescribeParameters', here);
  return runningParameters.DBInstanceParameter.find((each) => each.parameterName === name).parameterValue;
}

async function modify(facts) {
  await call('ModifyParameter', { ...here, ...facts });
  await awaitRunning();
}

async function proxy(configDBProxyService) {
  await call('ModifyDBProxy', { ...here, configDBProxyService });
  await awaitRunning();
  assert.equal((await call('DescribeDBProxy', here)).DBProxyServiceStatus, configDBProxyService);
}

const refused = () =>
  codeOf('ModifyParameter', {
    ...here,
    parameters: '{"query_cache_size": "8388608", "query_cache_type": "1"}',
  });

async function find() {
  step('finds the instance');
  const { items } = await call('DescribeDBInstances', { searchKey: DBInstanceId, pageSize: 100 });
  assert.deepEqual(
    items.DBInstance.map((each) => each.DBInstanceId),
    [DBInstanceId],
  );
  assert.equal(
    await codeOf('DescribeParameters', { DBInstanceId: 'rm-none é+~' }),
    'InvalidDBInstanceId.NotFound',
  );
}

async function mend() {
  step('is refused until minor version and proxy allow the cache');
  await proxy('Startup');
  assert.equal((await attribute()).currentKernelVersion, '');
  assert.equal(await refused(), 'OperationDenied.MinorVersion');
  const asked = { ...here, targetMinorVersion: 'rds_20200331', upgradeTime: 'Immediate' };
  const done = await call('UpgradeDBInstanceKernelVersion', asked);
  assert.match(done.taskId, /^\d+$/);
  await awaitRunning();
  assert.equal((await attribute()).currentKernelVersion, done.targetMinorVersion);
  assert.ok(done.targetMinorVersion >= 'rds_20200331');
  assert.equal(await refused(), 'OperationDenied.DedicatedProxy');
  await proxy('Shutdown');
}

async function makeGroup() {
  step('makes, changes, copies and deletes groups');
  const facts = { ...place, engine: 'mysql', engineVersion: '5.7', parameterGroupName: 'node_cache' };
  const made = await call('CreateParameterGroup', { ...facts, parameters: '{"query_cache_type": "1"}' });
  const group = { ...place, parameterGroupId: made.parameterGroupId };
  await call('ModifyParameterGroup', {
    ...group,
    modifyMode: 'Individual',
    parameters: JSON.stringify(CACHE),
  });
  await call('CloneParameterGroup', {
    ...group,
    targetRegionId: 'local',
    parameterGroupName: 'node_cache_2',
  });
  const { parameterGroups } = await call('DescribeParameterGroups', place);
  const copy = parameterGroups.parameterGroup.find((each) => each.parameterGroupName === 'node_cache_2');
  assert.equal(copy.paramCounts, 3);
  const { parameterGroupId } = copy;
  await call('DeleteParameterGroup', { ...place, parameterGroupId });
  assert.equal(
    await codeOf('DescribeParameterGroup', { ...place, parameterGroupId }),
    'ParamGroupsNotExistError',
  );
  return made.parameterGroupId;
}

async function applyGroup(parameterGroupId) {
  step('applies the group and reads it back');
  await modify({ parameterGroupId });
  const { configParameters, paramGroupInfo } = await call('DescribeParameters', here);
  const configured = configParameters.DBInstanceParameter.map((each) => [
    each.parameterName,
    each.parameterValue,
  ]);
  assert.deepEqual({ ...Object.fromEntries(configured), ...CACHE }, Object.fromEntries(configured));
  assert.equal(paramGroupInfo.paramGroupId, parameterGroupId);
  const memory = BigInt((await attribute()).DBInstanceMemory) * 1048576n;
  assert.equal(await running('innodb_buffer_pool_size'), String((memory * 63n) / 100n));
  const shown = await call('DescribeParameterGroup', { ...place, parameterGroupId });
  const details = shown.paramGroup.parameterGroup[0].paramDetail.parameterDetail;
  assert.deepEqual(Object.fromEntries(details.map((each) => [each.paramName, each.paramValue])), CACHE);
  assert.equal(shown.relatedCustinsInfo.relatedCustinsInfo[0].DBInstanceName, DBInstanceId);
}

async function restart() {
  step('restarts with consent only');
  const facts = { ...here, parameters: '{"back_log": "92"}' };
  assert.equal(await codeOf('ModifyParameter', facts), 'OperationDenied.ForceRestartRequired');
  await modify({ ...facts, forcerestart: true });
  assert.equal(await running('back_log'), '92');
  await call('RestartDBInstance', here);
  await awaitRunning();
}

async function waitForATime() {
  step('plans a change, moves it and gives it up');
  const later = { switchTimeMode: 'ScheduleTime', switchTime: '2998-01-01T00:00:00Z' };
  await modify({ parameters: '{"long_query_time": "7"}', ...later });
  const listed = async () =>
    (await call('DescribeParameterTimedScheduleTask', { dbInstanceName: DBInstanceId })).taskList;
  const [task] = await listed();
  const one = { DBInstanceName: DBInstanceId, taskId: Number(task.taskId) };
  await call('ModifyParameterTimedScheduleTask', { ...one, switchTime: '2999-01-01T00:00:00Z' });
  const [moved] = await listed();
  assert.deepEqual([moved.status, moved.switchTime], ['PENDING', '2999-01-01T00:00:00Z']);
  await call('DeleteParameterTimedScheduleTask', one);
  assert.deepEqual(await listed(), []);
}

async function grow() {
  step('moves to a bigger class, and the cache follows');
  const { orderId } = await call('ModifyDBInstanceSpec', { ...here, DBInstanceClass: 'local.medium' });
  assert.ok(orderId > 0);
  await awaitRunning();
  assert.equal(await running('query_cache_size'), '75161600');
}

const minute = (at) => `${at.toISOString().slice(0, 16)}Z`;

async function sampled(startTime) {
  const span = { startTime, endTime: minute(new Date(Date.now() + 60_000)) };
  const { performanceKeys } = await call('DescribeDBInstancePerformance', {
    ...here,
    ...span,
    key: 'MySQL_QueryCacheMemory',
  });
  const [memory] = performanceKeys.performanceKey;
  assert.equal(memory.valueFormat, 'size&free');
  return memory.values.performanceValue.some((each) => each.value.startsWith('75161600.00&'));
}

async function lookBack() {
  step('reads catalogue, log and performance');
  const { parameters } = await call('DescribeParameterTemplates', { engine: 'mysql', engineVersion: '5.7' });
  const record = parameters.templateRecord.find((each) => each.parameterName === 'back_log');
  assert.equal(record.forceRestart, 'true');
  const span = { startTime: minute(new Date(Date.now() - 3_600_000)), endTime: minute(new Date()) };
  const { items } = await call('DescribeModifyParameterLog', { ...here, ...span, pageSize: 100 });
  const pool = items.parameterChangeLog.filter(
    (each) => each.newParameterValue === CACHE.innodb_buffer_pool_size,
  );
  assert.equal(pool[0].status, 'Applied');
  await awaitThat('a sample of the cache is there', () => sampled(span.endTime));
}

await find();
await mend();
await applyGroup(await makeGroup());
await restart();
await waitForATime();
await grow();
await lookBack();
