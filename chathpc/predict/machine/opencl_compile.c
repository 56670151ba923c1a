/* Compiles a kernel for a launch with the device's own compiler, and does not run it.
 *
 * opencl_compile SOURCE OPTIONS KERNEL DIMENSIONS GLOBAL... LOCAL... ARGUMENT...: an argument is buffer:BYTES, local:BYTES or value:BYTES.
 * pocl compiles a kernel for its work-group when it is launched, and then loads the library; the launch ends there, in our dlopen, and the device's version, which names its
 * processor, and the library's path are told.
 */
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char wanted[300];

void *dlopen(const char *path, int mode)
{
    static void *(*real)(const char *, int);
    const char *name = path ? strrchr(path, '/') : NULL;
    if (name && *wanted && !strcmp(name, wanted)) {
        puts(path);
        fflush(stdout);
        _exit(0);
    }
    if (!real) real = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    return real(path, mode);
}

static void must(cl_int status, const char *what)
{
    if (status == CL_SUCCESS) return;
    fprintf(stderr, "%s: OpenCL error %d\n", what, status);
    exit(1);
}

int main(int argc, char **argv)
{
    static char source[1 << 22], log[1 << 16], zeros[4096], platform_name[256], version[512];
    cl_int status;
    cl_platform_id platforms[16], platform = NULL;
    cl_device_id device;
    cl_uint count = 0, dimensions;
    size_t global[3], local[3];
    FILE *file = argc > 4 ? fopen(argv[1], "r") : NULL;
    if (!file) { fprintf(stderr, "cannot read the source\n"); return 1; }
    source[fread(source, 1, sizeof source - 1, file)] = 0;
    must(clGetPlatformIDs(16, platforms, &count), "platforms");
    for (cl_uint k = 0; k < count; k++) {
        clGetPlatformInfo(platforms[k], CL_PLATFORM_NAME, sizeof platform_name, platform_name, NULL);
        if (strstr(platform_name, "Portable Computing Language")) platform = platforms[k];
    }
    if (!platform) { fprintf(stderr, "pocl is not installed\n"); return 1; }
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, NULL), "device");
    must(clGetDeviceInfo(device, CL_DEVICE_VERSION, sizeof version, version, NULL), "version");
    puts(version);
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    must(status, "context");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
    must(status, "queue");
    const char *text = source;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &status);
    must(status, "source");
    if (clBuildProgram(program, 1, &device, argv[2], NULL, NULL) != CL_SUCCESS) {
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        fprintf(stderr, "%s\n", log);
        return 1;
    }
    cl_kernel kernel = clCreateKernel(program, argv[3], &status);
    must(status, argv[3]);
    dimensions = (cl_uint)atoi(argv[4]);
    int next = 5;
    if (dimensions < 1 || dimensions > 3 || argc < next + 2 * (int)dimensions) return 1;
    for (cl_uint k = 0; k < dimensions; k++) global[k] = strtoull(argv[next++], NULL, 10);
    for (cl_uint k = 0; k < dimensions; k++) local[k] = strtoull(argv[next++], NULL, 10);
    for (cl_uint k = 0; next < argc; k++, next++) {
        char *colon = strchr(argv[next], ':');
        if (!colon) return 1;
        size_t bytes = strtoull(colon + 1, NULL, 10);
        if (argv[next][0] == 'l') must(clSetKernelArg(kernel, k, bytes, NULL), argv[next]);
        else if (argv[next][0] == 'v') must(clSetKernelArg(kernel, k, bytes, zeros), argv[next]);
        else {
            cl_mem buffer = clCreateBuffer(context, 0, 64, NULL, &status);
            must(status, argv[next]);
            must(clSetKernelArg(kernel, k, sizeof buffer, &buffer), argv[next]);
        }
    }
    snprintf(wanted, sizeof wanted, "/%s.so", argv[3]);
    must(clEnqueueNDRangeKernel(queue, kernel, dimensions, NULL, global, local, 0, NULL, NULL), "launch");
    clFinish(queue);
    fprintf(stderr, "the kernel was not compiled\n");
    return 1;
}
