package main

import (
	"encoding/json"

	"github.com/aliyun/alibaba-cloud-sdk-go/sdk/requests"
	"github.com/aliyun/alibaba-cloud-sdk-go/services/rds"
)

type task struct{ TaskId, Status, SwitchTime string }

func waitForATime() {
	step("plans a change, moves it and gives it up")
	modify(func(request *rds.ModifyParameterRequest) {
		request.Parameters = `{"long_query_time": "7"}`
		request.SwitchTimeMode, request.SwitchTime = "ScheduleTime", "2998-01-01T00:00:00Z"
	})
	id, later := tasks()[0].TaskId, "2999-01-01T00:00:00Z"
	common("ModifyParameterTimedScheduleTask", "DBInstanceName", instance, "TaskId", id, "SwitchTime", later)
	moved := tasks()[0]
	require(moved.Status == "PENDING" && moved.SwitchTime == later, moved)
	common("DeleteParameterTimedScheduleTask", "DBInstanceName", instance, "TaskId", id)
	require(len(tasks()) == 0, tasks())
}

func tasks() []task {
	answer := struct{ TaskList []task }{}
	must(json.Unmarshal(common("DescribeParameterTimedScheduleTask", "DbInstanceName", instance), &answer))
	return answer.TaskList
}

// common calls an action that this client has no types for; arguments are names, each with its value.
func common(action string, arguments ...string) []byte {
	request := requests.NewCommonRequest()
	request.Domain, request.Version, request.ApiName, request.Scheme = endpoint, "2014-08-15", action, "http"
	for at := 0; at < len(arguments); at += 2 {
		request.QueryParams[arguments[at]] = arguments[at+1]
	}
	return got(api.ProcessCommonRequest(request)).GetHttpContentBytes()
}
