/** Type unification: finds types for type parameters (cel-go, checker/types.go). */
import { type CelType, DYN, isSameType, parametersOf, withParameters } from './types.ts';

/** Which types the type parameters of a call are bound to, by parameter name. */
export class Mapping {
  readonly #types = new Map<string, CelType>();
  readonly #bound: (readonly [name: string, before: CelType | undefined])[] = [];

  get(name: string): CelType | undefined {
    return this.#types.get(name);
  }

  set(name: string, type: CelType): void {
    this.#bound.push([name, this.#types.get(name)]);
    this.#types.set(name, type);
  }

  /**
   * Binds type parameters so that the given types are assignable to the expected ones. If that is impossible, returns false and binds none.
   */
  accepts(expected: readonly CelType[], given: readonly CelType[]): boolean {
    if (areAssignable(this, expected, given)) {
      this.#bound.length = 0;
      return true;
    }
    while (this.#bound.length > 0) {
      const [name, before] = this.#bound.pop()!;
      if (before === undefined) this.#types.delete(name);
      else this.#types.set(name, before);
    }
    return false;
  }
}

/** Replaces type parameters with the types they are bound to. With `isFinal`, replaces unbound ones with `dyn`. */
export function substitute(mapping: Mapping, type: CelType, isFinal: boolean): CelType {
  if (type.kind === 'param') {
    const found = mapping.get(type.name);
    if (found !== undefined) return substitute(mapping, found, isFinal);
    return isFinal ? DYN : type;
  }
  const parameters = parametersOf(type);
  if (parameters.length === 0) return type;
  return withParameters(
    type,
    parameters.map((one) => substitute(mapping, one, isFinal)),
  );
}

/** Returns the more general of two types that unify. */
export const mostGeneral = (one: CelType, other: CelType): CelType => (isLessSpecific(one, other) ? one : other);

/** Whether the type is compatible with any other: `dyn`, and the type of an invalid expression. */
export const isDynamic = (type: CelType): boolean => type.kind === 'dyn' || type.kind === 'error';

function areAssignable(mapping: Mapping, ones: readonly CelType[], others: readonly CelType[]): boolean {
  return ones.length === others.length && ones.every((one, index) => isAssignable(mapping, one, others[index]!));
}

function isAssignable(mapping: Mapping, one: CelType, other: CelType): boolean {
  if (other.kind === 'param') {
    const { isValid, isBound } = bind(mapping, one, other);
    if (isValid || isBound) return isValid;
  }
  if (one.kind === 'param') return bind(mapping, other, one).isValid;
  if (isDynamic(one) || isDynamic(other)) return true;
  if (one.kind === 'null') return acceptsNull(other);
  if (other.kind === 'null') return acceptsNull(one);
  if (one.kind === 'type') return other.kind === 'type';
  if (one.kind !== other.kind) return false;
  if ('name' in one && 'name' in other && one.name !== other.name) return false;
  return areAssignable(mapping, parametersOf(one), parametersOf(other));
}

const acceptsNull = ({ kind }: CelType): boolean =>
  ['opaque', 'object', 'timestamp', 'duration', 'null'].includes(kind);

/** Binds a type parameter to a type. `isValid`: whether the parameter can have this type; `isBound`: whether it was already bound. */
function bind(
  mapping: Mapping,
  type: CelType,
  parameter: CelType & { kind: 'param' },
): { isValid: boolean; isBound: boolean } {
  if (isSameType(type, parameter)) return { isValid: true, isBound: true };
  const bound = mapping.get(parameter.name);
  if (bound === undefined) {
    const isValid = !occursIn(mapping, parameter, type);
    if (isValid) mapping.set(parameter.name, type);
    return { isValid, isBound: false };
  }
  if (isSameType(type, bound)) return { isValid: true, isBound: true };
  if (!isAssignable(mapping, type, bound)) return { isValid: false, isBound: true };
  const general = mostGeneral(type, bound);
  if (!occursIn(mapping, parameter, general)) mapping.set(parameter.name, general);
  return { isValid: true, isBound: true };
}

function occursIn(mapping: Mapping, parameter: CelType, type: CelType): boolean {
  if (isSameType(parameter, type)) return true;
  if (type.kind === 'param') {
    const bound = mapping.get(type.name);
    return bound !== undefined && occursIn(mapping, parameter, bound);
  }
  return parametersOf(type).some((one) => occursIn(mapping, parameter, one));
}

function isLessSpecific(one: CelType, other: CelType): boolean {
  if (one.kind === 'dyn' || one.kind === 'param') return true;
  if (other.kind === 'dyn' || other.kind === 'param' || one.kind !== other.kind) return false;
  if (one.kind === 'type') return true;
  const [parameters, others] = [parametersOf(one), parametersOf(other)];
  if (parameters.length === 0) return isSameType(one, other);
  return parameters.length === others.length && parameters.every((type, index) => isLessSpecific(type, others[index]!));
}
