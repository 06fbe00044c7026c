import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeJson, Schema } from '@podwright/kube-schema';
import type { ApiObject } from '../api-object.ts';
import { eventConversion } from './event-conversion.ts';
import { events } from './events.ts';
import { KindRules, merged, shownErrors } from './kind-rules.fixture.ts';

const rules = await KindRules.of('core.v1.Event', events);
const schema = await Schema.load();
const decoded = (type: string, value: object) =>
  decodeJson(value, { schema, type: schema.type(type) }).object as ApiObject;
const TIME = '2026-01-02T03:04:05.000000Z';

const old = { metadata: { namespace: 'n', name: 'e' }, involvedObject: { namespace: 'n', kind: 'Pod', name: 'p' } };
const recent = {
  ...old,
  eventTime: TIME,
  reportingComponent: 'example.com/c',
  reportingInstance: 'i',
  action: 'a',
  reason: 'r',
  type: 'Normal',
};

describe('an event of core/v1', () => {
  it('is in the namespace of its object', () => {
    rules.checkCreate(old, []);
    rules.checkCreate(merged(old, { involvedObject: { namespace: 'm' } }), [
      'involvedObject.namespace: Invalid value: "m": does not match event.namespace',
    ]);
    rules.checkCreate({ metadata: { namespace: 'default' } }, []);
    rules.checkCreate({ metadata: { namespace: 'kube-system' } }, [
      'involvedObject.namespace: Invalid value: "": does not match event.namespace',
    ]);
    rules.checkCreate(
      merged(recent, { metadata: { namespace: 'kube-system' }, involvedObject: { namespace: undefined } }),
      [],
    );
    rules.checkCreate({ metadata: { namespace: 'A' }, involvedObject: { namespace: 'A' } }, [
      'namespace: Invalid value: "A"',
    ]);
  });

  it('names its reporter, action and reason if it has an event time', () => {
    rules.checkCreate(recent, []);
    rules.checkCreate({ ...old, eventTime: TIME, message: 'x'.repeat(1025) }, [
      'reportingComponent: Required value',
      'reportingComponent: Invalid value: "": name part must be non-empty',
      'reportingComponent: Invalid value: "": name part must consist',
      'reportingInstance: Required value',
      'action: Required value',
      'reason: Required value',
      'message: Invalid value: "": can have at most 1024 characters',
    ]);
    rules.checkCreate({ ...recent, reason: 'x'.repeat(129) }, [
      'reason: Invalid value: "": can have at most 128 characters',
    ]);
  });

  it('may have any name that fits into a path', () => {
    assert.deepEqual(events.nameProblems!('Pod_A.1', false), []);
    assert.deepEqual(events.nameProblems!('a/b', false), ["may not contain '/'"]);
  });

  it('is selected by its source, or by its reporter', () => {
    const { source, 'involvedObject.kind': kind } = events.selectableFields!;
    assert.equal(source!(rules.completed({ ...recent, source: { component: 'c' } })), 'c');
    assert.equal(source!(rules.completed(recent)), 'example.com/c');
    assert.equal(kind!(rules.completed(recent)), 'Pod');
  });
});

describe('an event of events.k8s.io/v1', () => {
  const errors = (value: object, before?: object) =>
    shownErrors(eventConversion.validate!(rules.completed(value), before && rules.completed(before)));

  it('is stored as one of core/v1, and converted back', () => {
    const event = {
      apiVersion: 'events.k8s.io/v1',
      ...{
        metadata: { name: 'e' },
        regarding: { kind: 'Pod' },
        note: 'n',
        reportingController: 'c',
        reportingInstance: 'i',
      },
      ...{ deprecatedSource: { host: 'h' }, deprecatedCount: 2, deprecatedFirstTimestamp: '2026-01-02T03:04:05Z' },
      ...{ eventTime: TIME, series: { count: 2, lastObservedTime: TIME }, related: { name: 'r' }, action: 'a' },
    };
    const given = decoded('events.v1.Event', event);
    const stored = eventConversion.toStored(given);
    assert.deepEqual(stored, decoded('core.v1.Event', stored));
    assert.deepEqual([stored.apiVersion, stored.message, stored.count], ['v1', 'n', 2]);
    assert.deepEqual(eventConversion.fromStored(stored), given);
    const least = decoded('events.v1.Event', { apiVersion: 'events.k8s.io/v1' });
    assert.deepEqual(eventConversion.toStored(least), decoded('core.v1.Event', { apiVersion: 'v1' }));
    assert.deepEqual(eventConversion.fromStored(decoded('core.v1.Event', {})), least);
  });

  it('has its own names of fields in errors', () => {
    assert.deepEqual(eventConversion.errorFields, { reportingComponent: 'reportingController' });
  });

  it('has no fields of old events', () => {
    assert.deepEqual(errors(recent), []);
    assert.deepEqual(
      errors({ ...old, type: 'x', count: 1, source: { host: 'h' }, firstTimestamp: '2026-01-02T03:04:05Z' }),
      [
        'eventTime: Required value',
        'type: Invalid value: "": has invalid value: x',
        'firstTimestamp: Invalid value: "": needs to be unset',
        'count: Invalid value: "": needs to be unset',
        'source: Invalid value: "": needs to be unset',
      ],
    );
    assert.deepEqual(errors({ ...recent, series: { count: 1 } }), [
      'series.count: Invalid value: "": should be at least 2',
      'series.lastObservedTime: Required value',
    ]);
  });

  it('changes only its series', () => {
    const series = { count: 2, lastObservedTime: TIME };
    assert.deepEqual(errors({ ...recent, series }, recent), []);
    assert.deepEqual(errors({ ...recent, action: 'b', involvedObject: { namespace: 'n' } }, recent), [
      'involvedObject: Invalid value: {"Kind":"","Namespace":"n","Name":"","UID":"","APIVersion":"","ResourceVersion":"","FieldPath":""}: field is immutable',
      'action: Invalid value: "b": field is immutable',
    ]);
  });
});
