import type { ApiObject } from '../api-object.ts';
import { nameIsDnsSubdomain } from '../names.ts';
import type { Conversion } from '../strategy.ts';
import { validateEventChange, validateNewEvent } from './event-validation.ts';

/** The names of fields in events.k8s.io/v1, and in core/v1. Other fields have the same name. */
const NAMES: Readonly<Record<string, string>> = {
  regarding: 'involvedObject',
  note: 'message',
  reportingController: 'reportingComponent',
  deprecatedSource: 'source',
  deprecatedFirstTimestamp: 'firstTimestamp',
  deprecatedLastTimestamp: 'lastTimestamp',
  deprecatedCount: 'count',
};
const STORED_NAMES = Object.fromEntries(Object.entries(NAMES).map(([name, stored]) => [stored, name]));

/** Go always encodes these fields in core/v1, and omits empty ones in events.k8s.io/v1. */
const REPORTER_FIELDS = ['reportingComponent', 'reportingInstance'];

/** Converts events of events.k8s.io/v1 to the form of core/v1, in which they are stored. */
export const eventConversion: Conversion = {
  toStored: (event) => ({
    ...Object.fromEntries(REPORTER_FIELDS.map((field) => [field, ''])),
    ...renamed(event, NAMES),
    apiVersion: 'v1',
  }),
  fromStored: (event) => {
    const empty = REPORTER_FIELDS.filter((field) => event[field] === '');
    const fields = Object.entries(event).filter(([field]) => !empty.includes(field));
    return { ...renamed(Object.fromEntries(fields) as ApiObject, STORED_NAMES), apiVersion: 'events.k8s.io/v1' };
  },
  validate: (event, old) => (old === undefined ? validateNewEvent(event) : validateEventChange(event, old)),
  nameProblems: nameIsDnsSubdomain,
  selectableFields: {
    reason: 'reason',
    type: 'type',
    reportingController: 'reportingComponent',
    ...Object.fromEntries(
      ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map((field) => [
        `regarding.${field}`,
        `involvedObject.${field}`,
      ]),
    ),
  },
};

/** Fields that are not named are retained, but no field twice: one under its old name would come from another version. */
const renamed = (event: ApiObject, names: Readonly<Record<string, string>>): ApiObject =>
  Object.fromEntries(
    Object.entries(event).map(([field, value]) => [Object.hasOwn(names, field) ? names[field]! : field, value]),
  ) as ApiObject;
