/** A hook for views that show the pods of the selected namespace. */
import { useMemo } from 'preact/hooks';
import type { EventObject, Pod } from '../api/objects.ts';
import { useApp, useScoped } from './app.ts';
import type { Collection } from './collection.ts';
import { EVENTS, PODS } from './collections.ts';
import { EventsByObject } from './events-by-object.ts';
import { type PodView, PodViews } from './trouble.ts';

/** Returns the views of all pods in the selected namespace. They are recomputed every ten seconds because some depend on the time. */
export function usePodViews(): { views: PodView[]; state: Collection<Pod>['state'] } {
  const { now, namespace } = useApp();
  const pods = useScoped<Pod>(PODS);
  const events = useScoped<EventObject>(EVENTS);
  const memory = useMemo(() => ({ views: new PodViews(), events: new EventsByObject() }), []);
  const tenSeconds = Math.floor(now.value / 10_000);
  const [podList, eventList, wanted] = [pods.list, events.list, namespace];
  const views = useMemo(() => {
    memory.events.update(eventList);
    const shown = wanted === '' ? podList : podList.filter(({ metadata }) => metadata.namespace === wanted);
    return memory.views.of(shown, memory.events.of, now.peek());
  }, [podList, eventList, wanted, tenSeconds]);
  return { views, state: pods.state };
}
