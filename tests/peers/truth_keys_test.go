package peers

import (
	"encoding/json"
	"strings"
	"testing"
)

// heldKeys are the facts of programs that a trace is held to.
var heldKeys = words(`
	allocation_sites async_steps clock-ticks_total contexts contexts_unloaded counters_begin counters_end counts dotnet
	dough-weight dynamic_methods dynamic_methods_by_program events expect finalized flood_events_written_by_program
	gc_configuration_variables gc_memory_info gc_memory_info_1 gc_memory_info_2 handles_allocated_by_program
	known_contention_system_threading_lock known_contentions contentions_known_part loaves-sold_total loaves_total
	main_thread_phase_1_ms_by_method min_threads ms_in_Crumb_methods ms_in_RecPlugin.Even.Burn ms_in_RecPlugin.Odd.Burn
	native objects_at_snapshot_1 objects_at_snapshot_2 phase_2_ms_by_method pid queried responses_by_status retention serving
	server_gc sizes sources steps_total thread_ms thrown_by_type thrown_in_order total_available_memory_bytes
	unseen_meter waits work_items_by_program`)

// otherKeys are the facts that no trace of the program can be held to, by the reason.
var otherKeys = map[string]map[string]bool{
	"it is about the file, or explains": words(`allocation_sites_note dynamic_methods_note events_note flood_note how ms_note note_totals
		program requests_note scenario start_utc stopwatch_frequency thread_ms_note thrown_note`),
	"no event tells it": words(`aggregate_inner heap_size_1 heap_size_2 jit_info loh_arrays
		manifest_source_construction_exception original_latency_mode parallel_for_iterations poh_arrays process_cpu_ms result
		starvation_threads_used thread_count_at_end timer_ticks weak_dead_collected weak_live_alive completed_work_items_in_window
		no_gc_region_1 no_gc_region_2_with_loh no_gc_region_3_overrun out_of_memory_exceptions requests_refused uses`),
	"it is of after the last event":         words(`queue_final`),
	"it is the sum of others that are held": words(`count main_thread_phase_1_ms phase_2_ms`),
	"others hold it, for all traces":        words(`processors runtime`),
}

func words(text string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		all[word] = true
	}
	return all
}

// checkTruthKeys fails for whatever a program says that is neither held nor has a
// reason why not.
func checkTruthKeys(t *testing.T, path string, b []byte) {
	t.Helper()
	var truth map[string]json.RawMessage
	if err := json.Unmarshal(b, &truth); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
next:
	for key := range truth {
		if heldKeys[key] {
			continue
		}
		for _, keys := range otherKeys {
			if keys[key] {
				continue next
			}
		}
		t.Errorf("%s: nothing is held to %s", path, key)
	}
}
