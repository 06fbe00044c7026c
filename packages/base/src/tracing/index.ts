export { SpanStore } from './span-store.ts';
export { formatTraceparent, parseTraceparent, TRACEPARENT, type TraceContext } from './trace-context.ts';
export {
  newTrace,
  type Span,
  Tracer,
  type TraceWork,
  type TracingOptions,
  untraced,
} from './tracer.ts';
