import { atLeast, between, collectorProblems } from './checks.ts';
import { composes, field, nothing, only, onlyEmpty, setsNoOption } from './field.ts';
import { amount, bool, choice, durationOrNanoseconds, int32, objects, string } from './field-types.ts';
import { otherKey } from './toml-key.ts';

/** Fields for logging and tracing. */
export const LOGGING_FIELDS = {
  'logging.format': field(choice('text', 'json'), 'text', {
    flag: 'logging-format',
    about: 'log format',
    effect: nothing('logs are lines of JSON'),
  }),
  'logging.flushFrequency': field(durationOrNanoseconds, 5000, {
    flag: 'log-flush-frequency',
    about: 'longest time that a log line is buffered',
    check: atLeast(0),
    effect: nothing('lines are written at once'),
  }),
  'logging.verbosity': field(int32, 0, {
    flag: 'v',
    letter: 'v',
    about: 'log verbosity; debug messages are written from 4 on',
    key: otherKey('log_level'),
    check: atLeast(0),
    effect: setsNoOption,
  }),
  'logging.vmodule': field(objects, [], {
    flag: 'vmodule',
    about: 'log verbosity by source file',
    effect: onlyEmpty('all source files have the same log level'),
  }),
  'logging.options.text.splitStream': field(bool, false, {
    flag: 'log-text-split-stream',
    about: 'write errors to standard error, and the rest to standard output',
    effect: only([false], 'all lines are on standard error'),
  }),
  'logging.options.text.infoBufferSize': field(amount, '0', {
    flag: 'log-text-info-buffer-size',
    about: 'buffer size of standard output with splitStream',
    effect: nothing('lines are written at once'),
  }),
  'logging.options.json.splitStream': field(bool, false, {
    flag: 'log-json-split-stream',
    about: 'write errors to standard error, and the rest to standard output',
    effect: only([false], 'all lines are on standard error'),
  }),
  'logging.options.json.infoBufferSize': field(amount, '0', {
    flag: 'log-json-info-buffer-size',
    about: 'buffer size of standard output with splitStream',
    effect: nothing('lines are written at once'),
  }),
  'tracing.endpoint': field(string, undefined, {
    about: 'OTLP collector of traces; localhost:4317 if traces are sampled and none is named',
    key: otherKey('tracing.endpoint'),
    check: collectorProblems,
    effect: composes('tracing'),
  }),
  'tracing.samplingRatePerMillion': field(int32, undefined, {
    about: 'number of pod syncs in a million that are traced; none if unset',
    key: otherKey('tracing.sampling_rate_per_million'),
    check: (rate = 0) => between(0, 1_000_000)(rate),
    effect: composes('tracing'),
    keepsZero: true,
  }),
};
