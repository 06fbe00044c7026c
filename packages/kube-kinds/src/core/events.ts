import type { ApiObject } from '../api-object.ts';
import type { Strategy } from '../strategy.ts';
import { pathSegmentProblems } from '../texts.ts';
import { textAt } from '../values.ts';
import { validateEvent } from './event-validation.ts';

const object = (field: string) => (event: ApiObject) => textAt(event, 'involvedObject', field);
const text = (field: string) => (event: ApiObject) => textAt(event, field);

/** Events of core/v1. Events of events.k8s.io/v1 are stored in this form, too. */
export const events: Strategy = {
  validate: validateEvent,
  validateUpdate: validateEvent,
  nameProblems: pathSegmentProblems,
  selectableFields: {
    'involvedObject.kind': object('kind'),
    'involvedObject.namespace': object('namespace'),
    'involvedObject.name': object('name'),
    'involvedObject.uid': object('uid'),
    'involvedObject.apiVersion': object('apiVersion'),
    'involvedObject.resourceVersion': object('resourceVersion'),
    'involvedObject.fieldPath': object('fieldPath'),
    reason: text('reason'),
    reportingComponent: text('reportingComponent'),
    source: (event) => textAt(event, 'source', 'component') || textAt(event, 'reportingComponent'),
    type: text('type'),
  },
  allowCreateOnUpdate: true,
};
