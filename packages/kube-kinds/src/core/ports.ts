/** Ports of services, endpoints and network policies. */
import { type FieldError, notSupported, required } from '../field-error.ts';
import { portNameProblems } from '../names.ts';
import { problemsAt } from '../rules.ts';
import { portNumberProblems } from '../texts.ts';

const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

export function validateProtocol(field: string, protocol: string): FieldError[] {
  if (protocol === '') return [required(field)];
  return PROTOCOLS.includes(protocol) ? [] : [notSupported(field, protocol, PROTOCOLS)];
}

export const validatePortNumber = (field: string, port: number): FieldError[] =>
  problemsAt(field, port, portNumberProblems(port));

/** Validates a port number or port name (ValidatePortNumOrName). */
export const validatePortNumberOrName = (field: string, port: unknown): FieldError[] =>
  typeof port === 'string'
    ? problemsAt(field, port, portNameProblems(port))
    : validatePortNumber(field, Number(port ?? 0));
