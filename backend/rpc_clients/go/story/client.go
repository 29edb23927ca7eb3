package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	sdkerrors "github.com/aliyun/alibaba-cloud-sdk-go/sdk/errors"
	"github.com/aliyun/alibaba-cloud-sdk-go/services/rds"
)

const waitFor = 3 * time.Minute

var (
	endpoint = os.Getenv("FQC_RPC_ENDPOINT")
	instance = os.Getenv("FQC_RPC_INSTANCE")
	api      = connect()
)

func connect() *rds.Client {
	client, err := rds.NewClientWithAccessKey(
		"local", os.Getenv("ALIBABA_CLOUD_ACCESS_KEY_ID"), os.Getenv("ALIBABA_CLOUD_ACCESS_KEY_SECRET"))
	must(err)
	client.Domain = endpoint
	client.GetConfig().WithScheme("HTTP")
	client.SetReadTimeout(time.Minute)
	return client
}

func step(words string) { fmt.Println("go: " + words) }

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// got is the answer of a call that must succeed.
func got[T any](answer T, err error) T {
	must(err)
	return answer
}

func require(isMet bool, seen any) {
	if !isMet {
		panic(fmt.Sprintf("not what was expected: %+v", seen))
	}
}

// codeOf is the code of a call that must be refused.
func codeOf[T any](answer T, err error) string {
	var refusal *sdkerrors.ServerError
	if !errors.As(err, &refusal) || refusal.HttpStatus() < 400 || refusal.HttpStatus() > 499 {
		panic(fmt.Sprintf("was not refused: %+v %v", answer, err))
	}
	return refusal.ErrorCode()
}

func awaitThat(what string, isMet func() bool) {
	for end := time.Now().Add(waitFor); !isMet(); time.Sleep(200 * time.Millisecond) {
		require(time.Now().Before(end), "did not happen: "+what)
	}
}

func attribute() rds.DBInstanceAttribute {
	request := rds.CreateDescribeDBInstanceAttributeRequest()
	request.DBInstanceId = instance
	return got(api.DescribeDBInstanceAttribute(request)).Items.DBInstanceAttribute[0]
}

func awaitRunning() {
	awaitThat(instance+" is Running", func() bool { return attribute().DBInstanceStatus == "Running" })
}

func parameters() *rds.DescribeParametersResponse {
	request := rds.CreateDescribeParametersRequest()
	request.DBInstanceId = instance
	return got(api.DescribeParameters(request))
}

func valueOf(name string, among []rds.DBInstanceParameter) string {
	for _, each := range among {
		if each.ParameterName == name {
			return each.ParameterValue
		}
	}
	panic("there is no parameter " + name)
}

func running(name string) string {
	return valueOf(name, parameters().RunningParameters.DBInstanceParameter)
}

func modification() *rds.ModifyParameterRequest {
	request := rds.CreateModifyParameterRequest()
	request.DBInstanceId = instance
	return request
}

func modify(alter func(*rds.ModifyParameterRequest)) {
	request := modification()
	alter(request)
	got(api.ModifyParameter(request))
	awaitRunning()
}

func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }
