import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_SESSION_REQUESTS, MAX_SESSION_SOCKETS, MAX_SESSIONS, SESSION_LIFE_MS } from '../limits.ts';
import { Session, Sessions } from './sessions.ts';

test('a session is identified by its cookie and its key together', () => {
  const sessions = new Sessions();
  const [one, other] = [sessions.begin(0), sessions.begin(0)];
  assert.ok(sessions.find(one, 1));
  assert.equal(sessions.find({ cookie: one.cookie, key: '' }, 1), undefined);
  assert.equal(sessions.find({ cookie: '', key: one.key }, 1), undefined);
  assert.equal(sessions.find({ cookie: one.cookie, key: other.key }, 1), undefined);
});

test('a session ends after twelve hours, and on logout', () => {
  const sessions = new Sessions();
  const [one, other] = [sessions.begin(0), sessions.begin(0)];
  const session = sessions.find(one, SESSION_LIFE_MS - 1)!;
  assert.equal(sessions.find(one, SESSION_LIFE_MS), undefined);
  assert.ok(session.ended.aborted);
  sessions.end(other);
  assert.equal(sessions.find(other, 1), undefined);
});

test('an inactive session also ends after twelve hours, along with its streams', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const sessions = new Sessions();
  const session = sessions.find(sessions.begin(0), 1)!;
  t.mock.timers.tick(SESSION_LIFE_MS - 1);
  assert.equal(session.ended.aborted, false);
  t.mock.timers.tick(1);
  assert.ok(session.ended.aborted);
});

test('the oldest session ends if there are too many', () => {
  const sessions = new Sessions();
  const all = Array.from({ length: MAX_SESSIONS + 1 }, () => sessions.begin(0));
  assert.deepEqual(
    all.map((credentials) => sessions.find(credentials, 1) !== undefined),
    all.map((_, index) => index > 0),
  );
});

test('a session’s requests and WebSockets are limited', () => {
  const session = new Session();
  const sockets = Array.from({ length: MAX_SESSION_SOCKETS }, () => session.begin('socket'));
  assert.equal(session.begin('socket'), undefined);
  const requests = Array.from({ length: MAX_SESSION_REQUESTS - MAX_SESSION_SOCKETS }, () => session.begin('request'));
  assert.equal(session.begin('request'), undefined);
  sockets[0]!();
  sockets[0]!(); // the end of a request counts once
  assert.ok(session.begin('socket'));
  assert.equal(session.begin('request'), undefined);
  requests[0]!();
  assert.equal(session.begin('socket'), undefined);
  assert.ok(session.begin('request'));
});
