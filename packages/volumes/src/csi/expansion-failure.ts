import { type ErrorCode, errorCode, errorMessage, PodwrightError } from '@podwright/base';

/**
 * What came of asking a driver to expand a volume, where it has not: `unsupported` by the driver, `in-use` where it does not do it
 * while the volume is used, `infeasible` with this size, `later` if it cannot be asked now, and `failed` otherwise.
 */
export type ExpansionFailureKind = 'unsupported' | 'in-use' | 'infeasible' | 'later' | 'failed';

/** Its message is upstream's. */
export class ExpansionFailure extends PodwrightError {
  readonly kind: ExpansionFailureKind;

  constructor(kind: ExpansionFailureKind, message: string) {
    super('failed_precondition', message);
    this.kind = kind;
  }
}

/** Status codes that say that the volume cannot have this size (upstream's isInfeasibleError). */
const INFEASIBLE: ReadonlySet<ErrorCode> = new Set(['invalid_argument', 'out_of_range', 'not_found'] as const);

/** Of an answer of NodeExpandVolume. */
export function expansionFailure(error: unknown): ExpansionFailure {
  const code = errorCode(error);
  const what = 'Expander.NodeExpand failed to expand the volume';
  if (INFEASIBLE.has(code)) return new ExpansionFailure('infeasible', `${what} ${errorMessage(error)}`);
  const kind = code === 'failed_precondition' ? 'in-use' : 'failed';
  return new ExpansionFailure(kind, `${what} : ${errorMessage(error)}`);
}
