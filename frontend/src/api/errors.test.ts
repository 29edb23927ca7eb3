import { expect, test } from 'vitest';
import { ApiError, fieldRefusal } from './errors';

test('a problem keeps its message, its fields and its request id', () => {
  const errors = [
    { field: 'values.query_cache_size', code: 'invalid', detail: 'must be a multiple of 1024' },
  ];
  const error = new ApiError(400, {
    title: 'Not valid',
    detail: 'one value is wrong',
    request_id: 'r-1',
    errors,
  });
  expect(error.message).toBe('one value is wrong');
  expect(error.requestId).toBe('r-1');
  expect(fieldRefusal(error, 'values.query_cache_size')?.detail).toBe('must be a multiple of 1024');
  expect(fieldRefusal(error, 'name')).toBeUndefined();
});

test('a refused item of a list is told at the field of the list', () => {
  const errors = [{ field: 'mail_to.1', code: 'invalid', detail: 'not an address' }];
  const error = new ApiError(400, { errors });
  expect(fieldRefusal(error, 'mail_to')?.detail).toBe('not an address');
  expect(fieldRefusal(error, 'mail')).toBeUndefined();
});

test('an answer without a problem still says what happened', () => {
  expect(new ApiError(502, {}, 'r-2')).toMatchObject({
    message: 'HTTP 502',
    code: 'http_502',
    requestId: 'r-2',
  });
});
