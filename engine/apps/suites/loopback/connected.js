// Gives LoopBack's tests their source of data, a server of the lab, and a list of what its connector can do.
'use strict';

const {DataSource} = require('loopback-datasource-juggler');
const connector = require('loopback-connector-mysql');

const server = {
  host: '127.0.0.1',
  port: process.env.FQC_APPS_PORT,
  user: process.env.FQC_APPS_USER,
  database: 'test',
  connectionLimit: 5,
};
global.getSchema = (_, settings) => new DataSource(connector, {...server, ...settings});
global.getDataSource = global.getSchema;
global.connectorCapabilities = {adhocSort: true, nestedProperty: false, supportForceId: true, supportPagination: true};
