package main

import (
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/aliyun/alibaba-cloud-sdk-go/services/rds"
)

func main() {
	id, secret := os.Getenv("ALIBABA_CLOUD_ACCESS_KEY_ID"), os.Getenv("ALIBABA_CLOUD_ACCESS_KEY_SECRET")
	client, err := rds.NewClientWithAccessKey("local", id, secret)
	if err != nil {
		log.Fatal(err)
	}
	client.Domain = os.Getenv("FQC_RPC_ENDPOINT") // host:port, without a path
	client.GetConfig().WithScheme("HTTP")         // HTTPS behind a proxy with TLS
	client.SetReadTimeout(time.Minute)            // a change first reads its server

	change := rds.CreateModifyParameterRequest()
	change.DBInstanceId = os.Getenv("FQC_RPC_INSTANCE")
	change.Parameters = `{"query_cache_size": "{DBInstanceClassMemory/32}"}`
	if _, err = client.ModifyParameter(change); err != nil {
		log.Fatal(err)
	}
	request := rds.CreateDescribeParametersRequest()
	request.DBInstanceId = change.DBInstanceId
	answer, err := client.DescribeParameters(request)
	if err != nil {
		log.Fatal(err)
	}
	for _, parameter := range answer.RunningParameters.DBInstanceParameter {
		if strings.HasPrefix(parameter.ParameterName, "query_cache") {
			fmt.Println(parameter.ParameterName, parameter.ParameterValue)
		}
	}
}
