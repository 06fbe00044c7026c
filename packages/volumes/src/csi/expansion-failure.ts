import { type ErrorCode, errorCode, errorMessage, PodwrightError } from '@podwright/base';

/**
 * Why a driver has not expanded a volume: `unsupported` by the driver; `in-use` if it cannot expand a volume in use; `infeasible`
 * with this size; `later` if it cannot be called now; otherwise `failed`.
 */
export type ExpansionFailureKind = 'unsupported' | 'in-use' | 'infeasible' | 'later' | 'failed';

/** The message is upstream's. */
export class ExpansionFailure extends PodwrightError {
  readonly kind: ExpansionFailureKind;

  constructor(kind: ExpansionFailureKind, message: string) {
    super('failed_precondition', message);
    this.kind = kind;
  }
}

/** Status codes that mean that the volume cannot have this size (upstream's isInfeasibleError). */
const INFEASIBLE: ReadonlySet<ErrorCode> = new Set(['invalid_argument', 'out_of_range', 'not_found'] as const);

/** For an error of NodeExpandVolume. */
export function expansionFailure(error: unknown): ExpansionFailure {
  const code = errorCode(error);
  const what = 'Expander.NodeExpand failed to expand the volume';
  if (INFEASIBLE.has(code)) return new ExpansionFailure('infeasible', `${what} ${errorMessage(error)}`);
  const kind = code === 'failed_precondition' ? 'in-use' : 'failed';
  return new ExpansionFailure(kind, `${what} : ${errorMessage(error)}`);
}
