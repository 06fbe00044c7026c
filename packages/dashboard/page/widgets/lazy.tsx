/** Components that are loaded when first shown. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { messageOf } from '../api/request.ts';
import { Problem, Waiting } from './marks.tsx';

/** Returns a component that loads another one and then shows it. `what`: the other component's name in messages. */
export function lazy<P extends object>(what: string, load: () => Promise<ComponentType<P>>): ComponentType<P> {
  return function Lazy(props: P) {
    const [state, setState] = useState<{ part?: ComponentType<P>; error?: unknown }>({});
    useEffect(() => {
      load().then(
        (part) => setState({ part }),
        (error: unknown) => setState({ error }),
      );
    }, []);
    const { part: Part, error } = state;
    if (error !== undefined) return <Problem what={`${what} could not be loaded`}>{messageOf(error)}</Problem>;
    return Part === undefined ? <Waiting what={`Loading ${what}`} /> : <Part {...props} />;
  };
}
