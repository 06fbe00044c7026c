/** Returns the condition of a type from the conditions of an object's status. */
export function findCondition<Condition extends { type?: string }>(
  conditions: readonly Condition[] | null | undefined,
  type: string,
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Whether an object's status has a condition of a type with the status `True`. */
export function isConditionTrue(
  conditions: readonly { type?: string; status?: string }[] | null | undefined,
  type: string,
): boolean {
  return findCondition(conditions, type)?.status === 'True';
}
