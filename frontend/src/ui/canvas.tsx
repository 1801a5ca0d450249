/** A canvas that fills its box, in device pixels, and draws again when its box or what it draws changes. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

export const FONT = '11px Roboto, "Segoe UI", system-ui, sans-serif';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The size of an element in CSS pixels, followed. Zero while the tab is hidden. */
export function useSize(target: { readonly current: Element | null }): Size {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = target.current;
    if (element === null) return;
    const measure = () => setSize({ width: element.clientWidth, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, [target]);
  return size;
}

export type Draw = (context: CanvasRenderingContext2D, size: Size) => void;

interface CanvasProps {
  readonly draw: Draw;
  readonly size: Size;
}

export function Canvas({ draw, size }: CanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context || size.width === 0 || size.height === 0) return;
    const ratio = window.devicePixelRatio || 1;
    element.width = Math.round(size.width * ratio);
    element.height = Math.round(size.height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, size.width, size.height);
    draw(context, size);
  }, [draw, size]);
  const style = { width: `${size.width}px`, height: `${size.height}px` };
  return <canvas ref={canvas} class="canvas" style={style} aria-hidden="true" />;
}

/** A CSS variable of the panel's theme. */
export function token(name: string): string {
  return getComputedStyle(document.body).getPropertyValue(`--${name}`).trim();
}
