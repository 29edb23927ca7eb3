// The whole enable-the-cache story with the official Go client, unmodified. Every step asserts what it sees.
package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/aliyun/alibaba-cloud-sdk-go/sdk/requests"
	"github.com/aliyun/alibaba-cloud-sdk-go/services/rds"
)

const pool = "{DBInstanceClassMemory*63/100}"

var cache = map[string]string{
	"innodb_buffer_pool_size": pool,
	"query_cache_size":        "{DBInstanceClassMemory*7/100/1024*1024}",
	"query_cache_type":        "1",
}

func main() {
	find()
	mend()
	applyGroup(makeGroup())
	restart()
	waitForATime()
	grow()
	lookBack()
}

func find() {
	step("finds the instance")
	request := rds.CreateDescribeDBInstancesRequest()
	request.SearchKey, request.PageSize = instance, requests.NewInteger(100)
	found := got(api.DescribeDBInstances(request)).Items.DBInstance
	require(len(found) == 1 && found[0].DBInstanceId == instance, found)
	unknown := rds.CreateDescribeParametersRequest()
	unknown.DBInstanceId = "rm-none é+~*"
	code := codeOf(api.DescribeParameters(unknown))
	require(code == "InvalidDBInstanceId.NotFound", code)
}

func mend() {
	step("is refused until minor version and proxy allow the cache")
	proxy("Startup")
	require(attribute().CurrentKernelVersion == "", attribute())
	require(refused() == "OperationDenied.MinorVersion", refused())
	upgrade := rds.CreateUpgradeDBInstanceKernelVersionRequest()
	upgrade.DBInstanceId, upgrade.UpgradeTime, upgrade.TargetMinorVersion = instance, "Immediate", "rds_20200331"
	done := got(api.UpgradeDBInstanceKernelVersion(upgrade))
	require(isNumber(done.TaskId), done)
	awaitRunning()
	now := attribute().CurrentKernelVersion
	require(now == done.TargetMinorVersion && now >= "rds_20200331", now)
	require(refused() == "OperationDenied.DedicatedProxy", refused())
	proxy("Shutdown")
}

func proxy(service string) {
	request := rds.CreateModifyDBProxyRequest()
	request.DBInstanceId, request.ConfigDBProxyService = instance, service
	got(api.ModifyDBProxy(request))
	awaitRunning()
	ask := rds.CreateDescribeDBProxyRequest()
	ask.DBInstanceId = instance
	found := got(api.DescribeDBProxy(ask))
	require(found.DBProxyServiceStatus == service, found)
}

func refused() string {
	request := modification()
	request.Parameters = `{"query_cache_size": "8388608", "query_cache_type": "1"}`
	return codeOf(api.ModifyParameter(request))
}

func makeGroup() string {
	step("makes, changes, copies and deletes groups")
	create := rds.CreateCreateParameterGroupRequest()
	create.Engine, create.EngineVersion, create.ParameterGroupName = "mysql", "5.7", "go.cache"
	create.Parameters = `{"query_cache_type": "1"}`
	group := got(api.CreateParameterGroup(create)).ParameterGroupId
	change := rds.CreateModifyParameterGroupRequest()
	change.ParameterGroupId, change.ModifyMode = group, "Collectivity"
	change.Parameters = string(got(json.Marshal(cache)))
	require(got(api.ModifyParameterGroup(change)).ParameterGroupId == group, group)
	clone := rds.CreateCloneParameterGroupRequest()
	clone.ParameterGroupId, clone.ParameterGroupName, clone.TargetRegionId = group, "go.cache.2", "local"
	got(api.CloneParameterGroup(clone))
	remove := rds.CreateDeleteParameterGroupRequest()
	for _, each := range got(api.DescribeParameterGroups(rds.CreateDescribeParameterGroupsRequest())).ParameterGroups.ParameterGroup {
		if each.ParameterGroupName == "go.cache.2" {
			remove.ParameterGroupId = each.ParameterGroupId
		}
	}
	got(api.DeleteParameterGroup(remove))
	gone := rds.CreateDescribeParameterGroupRequest()
	gone.ParameterGroupId = remove.ParameterGroupId
	code := codeOf(api.DescribeParameterGroup(gone))
	require(code == "ParamGroupsNotExistError", code)
	return group
}

func applyGroup(group string) {
	step("applies the group and reads it back")
	modify(func(request *rds.ModifyParameterRequest) { request.ParameterGroupId = group })
	found := parameters()
	for name, submitted := range cache {
		configured := valueOf(name, found.ConfigParameters.DBInstanceParameter)
		require(configured == submitted, configured)
	}
	require(found.ParamGroupInfo.ParamGroupId == group, found.ParamGroupInfo)
	memory := int64(attribute().DBInstanceMemory) << 20
	require(running("innodb_buffer_pool_size") == fmt.Sprint(memory*63/100), running("innodb_buffer_pool_size"))
	ask := rds.CreateDescribeParameterGroupRequest()
	ask.ParameterGroupId = group
	shown := got(api.DescribeParameterGroup(ask))
	require(len(shown.ParamGroup.ParameterGroup[0].ParamDetail.ParameterDetail) == len(cache), shown)
	require(shown.RelatedCustinsInfo.RelatedCustinsInfoItem[0].DBInstanceName == instance, shown)
}

func restart() {
	step("restarts with consent only")
	silent := modification()
	silent.Parameters = `{"back_log": "93"}`
	code := codeOf(api.ModifyParameter(silent))
	require(code == "OperationDenied.ForceRestartRequired", code)
	modify(func(request *rds.ModifyParameterRequest) {
		request.Parameters, request.Forcerestart = silent.Parameters, requests.NewBoolean(true)
	})
	require(running("back_log") == "93", running("back_log"))
	request := rds.CreateRestartDBInstanceRequest()
	request.DBInstanceId = instance
	got(api.RestartDBInstance(request))
	awaitRunning()
}

func grow() {
	step("moves to a bigger class, and the cache follows")
	request := rds.CreateModifyDBInstanceSpecRequest()
	request.DBInstanceId, request.DBInstanceClass, request.PayType = instance, "local.medium", "Postpaid"
	require(got(api.ModifyDBInstanceSpec(request)).OrderId > 0, "an order")
	awaitRunning()
	require(running("query_cache_size") == "75161600", running("query_cache_size"))
}

func lookBack() {
	step("reads catalogue, log and performance")
	templates := rds.CreateDescribeParameterTemplatesRequest()
	templates.Engine, templates.EngineVersion = "mysql", "5.7"
	require(got(api.DescribeParameterTemplates(templates)).ParameterCount != "0", "a catalogue")
	log := rds.CreateDescribeModifyParameterLogRequest()
	log.DBInstanceId, log.PageSize = instance, requests.NewInteger(100)
	log.StartTime, log.EndTime = minute(-time.Hour), minute(0)
	require(hasPool(got(api.DescribeModifyParameterLog(log)).Items.ParameterChangeLog), "a log with the buffer pool")
	since := minute(0)
	awaitThat("a sample of the cache is there", func() bool { return sampled(since) })
}

func hasPool(log []rds.ParameterChangeLog) bool {
	for _, each := range log {
		if each.NewParameterValue == pool && each.Status == "Applied" {
			return true
		}
	}
	return false
}

func sampled(since string) bool {
	request := rds.CreateDescribeDBInstancePerformanceRequest()
	request.DBInstanceId, request.Key = instance, "MySQL_QueryCacheMemory"
	request.StartTime, request.EndTime = since, minute(time.Minute)
	memory := got(api.DescribeDBInstancePerformance(request)).PerformanceKeys.PerformanceKey[0]
	require(memory.ValueFormat == "size&free", memory)
	for _, each := range memory.Values.PerformanceValue {
		if strings.HasPrefix(each.Value, "75161600.00&") {
			return true
		}
	}
	return false
}

func minute(later time.Duration) string {
	return time.Now().Add(later).UTC().Format("2006-01-02T15:04Z")
}
