import type { ApiObject } from '../api-object.ts';
import { nameIsDnsSubdomain } from '../names.ts';
import type { Conversion } from '../strategy.ts';
import { validateEventChange, validateNewEvent } from './event-validation.ts';

/** Maps field names in events.k8s.io/v1 to core/v1. All other names are the same. */
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

/** Fields always encoded in core/v1 by Go, but omitted from events.k8s.io/v1 if empty. */
const REPORTER_FIELDS = ['reportingComponent', 'reportingInstance'];

/** Converts events between events.k8s.io/v1 and core/v1, the stored version. */
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
  errorFields: { reportingComponent: 'reportingController' },
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

/** Renames the fields listed in `names` and keeps the others. Names cannot collide because no version has a field under both names. */
const renamed = (event: ApiObject, names: Readonly<Record<string, string>>): ApiObject =>
  Object.fromEntries(
    Object.entries(event).map(([field, value]) => [Object.hasOwn(names, field) ? names[field]! : field, value]),
  ) as ApiObject;
