/** Returns an object's condition of the given type. */
export function findCondition<Condition extends { type?: string }>(
  conditions: readonly Condition[] | null | undefined,
  type: string,
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Whether an object's condition of the given type is `True`. */
export function isConditionTrue(
  conditions: readonly { type?: string; status?: string }[] | null | undefined,
  type: string,
): boolean {
  return findCondition(conditions, type)?.status === 'True';
}
