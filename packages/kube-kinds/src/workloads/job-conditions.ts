import type { ApiObject } from '../api-object.ts';
import { objectsAt, textAt } from '../values.ts';

const hasCondition = (job: ApiObject, type: string, status: string): boolean =>
  objectsAt(job, 'status', 'conditions').some(
    (condition) => textAt(condition, 'type') === type && textAt(condition, 'status') === status,
  );

export const isConditionTrue = (job: ApiObject, type: string): boolean => hasCondition(job, type, 'True');
export const isConditionFalse = (job: ApiObject, type: string): boolean => hasCondition(job, type, 'False');

export const isComplete = (job: ApiObject): boolean => isConditionTrue(job, 'Complete');
export const isFailed = (job: ApiObject): boolean => isConditionTrue(job, 'Failed');
export const isFinished = (job: ApiObject): boolean => isComplete(job) || isFailed(job);
