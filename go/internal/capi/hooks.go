package capi

/*
#include "hukilau.h"

extern void hukilauGoCall(hk_call *call);
extern void hukilauGoOutput(uint64_t host, uint8_t *data, size_t size);

static void output_hook(uint64_t host, const uint8_t *data, size_t size) { hukilauGoOutput(host, (uint8_t *)data, size); }
static const hk_host hooks = {hukilauGoCall, output_hook};
const hk_host *hukilau_go_hooks(void) { return &hooks; }
*/
import "C"
