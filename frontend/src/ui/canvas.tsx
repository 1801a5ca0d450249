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

/** Hands a canvas to the browser as a picture, on the panel's background. */
export function savePng(drawn: HTMLCanvasElement | null, name: string): void {
  if (drawn === null) return;
  const copy = document.createElement("canvas");
  [copy.width, copy.height] = [drawn.width, drawn.height];
  const context = copy.getContext("2d");
  if (context === null) return;
  context.fillStyle = token("bg");
  context.fillRect(0, 0, copy.width, copy.height);
  context.drawImage(drawn, 0, 0);
  copy.toBlob((blob) => blob !== null && download(blob, `${name}.png`));
}

/** Hands a file to the browser. */
export function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A CSS variable of the panel's theme. */
export function token(name: string): string {
  return getComputedStyle(document.body).getPropertyValue(`--${name}`).trim();
}
