// Command embed-pipeline serves an image filter over HTTP: curl --data-binary @photo.png localhost:8080 > edges.png
package main

import (
	"context"
	"image"
	"image/draw"
	_ "image/jpeg"
	"image/png"
	"log"
	"net/http"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/plugins/all"
)

func main() {
	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
	filter, err := rt.LoadPipeline(context.Background(), "edges.js", orepl.PipelineOptions{})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe(":8080", edges(filter)))
}

func edges(filter *orepl.Pipeline) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		photo, _, err := image.Decode(http.MaxBytesReader(w, r.Body, 32<<20))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		gray := image.NewGray(photo.Bounds())
		draw.Draw(gray, gray.Rect, photo, gray.Rect.Min, draw.Src)
		if err := filter.Run(r.Context(), orepl.Data{"image": gray}, orepl.Data{"edges": gray}); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_ = png.Encode(w, gray) // fails if the client has gone
	}
}
