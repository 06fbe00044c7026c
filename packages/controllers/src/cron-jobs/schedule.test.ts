import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSchedule } from './schedule.ts';
import { WallClock } from './wall-clock.ts';

/** Checks the schedule's times that follow the first of these times. All are in UTC. */
function check(schedule: string, zone: string, [after, ...expected]: string[]) {
  const { next } = parseSchedule(schedule, zone);
  let ms: number | undefined = Date.parse(`${after}Z`);
  const times = expected.map(() => {
    ms = next(ms!);
    return ms === undefined ? 'never' : new Date(ms).toISOString().slice(0, after!.length);
  });
  assert.deepEqual(times, expected);
}

test('fields accept numbers, lists, ranges, steps and names', () => {
  check('*/15 * * * *', 'UTC', ['2026-01-01T00:00', '2026-01-01T00:15', '2026-01-01T00:30']);
  check('5/20 1,3 * * *', 'UTC', ['2026-01-01T01:30', '2026-01-01T01:45', '2026-01-01T03:05']);
  check('0 9-17/4 * * MON-fri', 'UTC', ['2026-01-02T17:00', '2026-01-05T09:00', '2026-01-05T13:00']);
  check('30 0 1 feb,JUN ?', 'UTC', ['2026-01-01T00:00', '2026-02-01T00:30', '2026-06-01T00:30', '2027-02-01T00:30']);
  check('0 0 29 2 *', 'UTC', ['2026-01-01T00:00', '2028-02-29T00:00']);
  check('0 0 31 2 *', 'UTC', ['2026-01-01T00:00', 'never']);
});

test('matching the day of the month or the day of the week suffices, unless one of them is a wildcard', () => {
  check('0 0 13 * 5', 'UTC', ['2026-01-01T00:00', '2026-01-02T00:00', '2026-01-09T00:00', '2026-01-13T00:00']);
  check('0 0 13 * *', 'UTC', ['2026-01-01T00:00', '2026-01-13T00:00', '2026-02-13T00:00']);
  check('0 0 */30 * 5', 'UTC', ['2026-01-01T00:00', '2026-01-02T00:00']);
});

test('descriptors and intervals are supported', () => {
  check('@monthly', 'UTC', ['2026-01-31T00:00', '2026-02-01T00:00', '2026-03-01T00:00']);
  check('@weekly', 'UTC', ['2026-01-01T00:00', '2026-01-04T00:00']);
  check('@every 90s', 'UTC', ['2026-01-01T00:00:07', '2026-01-01T00:01:37', '2026-01-01T00:03:07']);
});

test('times are in the time zone, and a zone in the schedule takes precedence', () => {
  check('0 8 * * *', 'Asia/Kolkata', ['2026-01-01T00:00', '2026-01-01T02:30', '2026-01-02T02:30']);
  check('TZ=Asia/Kolkata 0 8 * * *', 'UTC', ['2026-01-01T00:00', '2026-01-01T02:30']);
  check('CRON_TZ=UTC @daily', 'Asia/Kolkata', ['2026-01-01T00:00', '2026-01-02T00:00']);
});

test('a time skipped by the clock change is omitted, and one that repeats counts twice', () => {
  check('30 2 * * *', 'Europe/Berlin', ['2026-03-28T12:00', '2026-03-30T00:30']);
  check('30 2 * * *', 'Europe/Berlin', [
    '2026-10-24T12:00',
    '2026-10-25T00:30',
    '2026-10-25T01:30',
    '2026-10-26T01:30',
  ]);
  check('0 0 * * *', 'America/Santiago', ['2026-09-05T12:00', '2026-09-07T03:00']);
  check('30 0 * * 0', 'America/Santiago', ['2026-09-05T12:00', '2026-09-13T03:30']);
});

test('invalid schedules are refused', () => {
  for (const schedule of [
    '',
    '* * * *',
    '60 * * * *',
    '* * 0 * *',
    '* * * * 7',
    '5-1 * * * *',
    '*/0 * * * *',
    '@often',
    '@every x',
  ])
    assert.throws(() => parseSchedule(schedule, 'UTC'), schedule);
  assert.throws(() => parseSchedule('* * * * *', 'Mars/Olympus'), RangeError);
});

test('times have their zone’s offset', () => {
  const at = Date.parse('2026-01-01T00:00:05.500Z');
  assert.equal(new WallClock('UTC').format(at), '2026-01-01T00:00:05Z');
  assert.equal(new WallClock('Asia/Kolkata').format(at), '2026-01-01T05:30:05+05:30');
  assert.equal(new WallClock('America/New_York').format(at), '2025-12-31T19:00:05-05:00');
});

test('the last scheduled time before a given time is found', () => {
  const check = (schedule: string, zone: string, [from = '', until = '', expected]: (string | undefined)[]) => {
    const last = parseSchedule(schedule, zone).last(Date.parse(`${from}Z`), Date.parse(`${until}Z`));
    assert.equal(last && new Date(last).toISOString().slice(0, 19), expected);
  };
  check('*/10 * * * *', 'UTC', ['2026-01-01T00:00:00', '2026-03-01T00:09:59', '2026-03-01T00:00:00']);
  check('*/10 * * * *', 'UTC', ['2026-01-01T00:00:00', '2026-01-01T00:09:59', undefined]);
  check('30 2 * * *', 'Europe/Berlin', ['2026-10-01T00:00:00', '2026-10-25T01:30:00', '2026-10-25T01:30:00']);
  check('@every 90s', 'UTC', ['2026-01-01T00:00:07', '2026-01-01T00:03:08', '2026-01-01T00:03:07']);
  check('@every 90s', 'UTC', ['2026-01-01T00:00:07', '2026-01-01T00:01:36', undefined]);
});

test('rare, impossible and dense schedules are cheap to evaluate', () => {
  const before = process.cpuUsage();
  const nowMs = Date.UTC(2026, 11, 20);
  for (const text of ['0 0 31 2 *', '0 0 31 2,4,6,9,11 *', '0 0 29 2 *', ', * * * *', '* , * * *', '* * * 11,12 *'])
    for (let round = 0; round < 20; round++) {
      const schedule = parseSchedule(text, 'America/New_York');
      schedule.next(nowMs);
      schedule.last(nowMs - 608 * 86_400_000, nowMs);
    }
  const { user } = process.cpuUsage(before);
  assert.ok(user < 1_500_000, `${user} µs`);
});
