import { type ErrorCode, errorCode, errorMessage, PodwrightError } from '@podwright/base';

/**
 * Why a driver did not expand a volume. `unsupported`: it cannot expand volumes. `in-use`: it cannot expand volumes that are in use.
 * `infeasible`: the volume cannot have this size. `later`: the driver is currently not registered. `failed`: anything else.
 */
export type ExpansionFailureKind = 'unsupported' | 'in-use' | 'infeasible' | 'later' | 'failed';

/** A failed expansion, with upstream's message. */
export class ExpansionFailure extends PodwrightError {
  readonly kind: ExpansionFailureKind;

  constructor(kind: ExpansionFailureKind, message: string) {
    super('failed_precondition', message);
    this.kind = kind;
  }
}

/** Status codes meaning that the volume cannot have this size (upstream's isInfeasibleError). */
const INFEASIBLE: ReadonlySet<ErrorCode> = new Set(['invalid_argument', 'out_of_range', 'not_found'] as const);

/** Classifies an error from NodeExpandVolume. */
export function expansionFailure(error: unknown): ExpansionFailure {
  const code = errorCode(error);
  const what = 'Expander.NodeExpand failed to expand the volume';
  if (INFEASIBLE.has(code)) return new ExpansionFailure('infeasible', `${what} ${errorMessage(error)}`);
  const kind = code === 'failed_precondition' ? 'in-use' : 'failed';
  return new ExpansionFailure(kind, `${what} : ${errorMessage(error)}`);
}
